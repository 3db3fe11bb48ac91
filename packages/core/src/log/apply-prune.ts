/** A message as a prune shows it. */
import type { Shape } from "../message/shape.ts";
import type { PruneEntry } from "./record.ts";

/** What each entry made of which message: the pruned one stays the same object, so that counts of it stay cached. */
const pruned = new WeakMap<PruneEntry, { readonly from: unknown; readonly to: unknown }>();

/** The message with one part's content replaced. Pairing can't break: a call stays a call, a result stays a result. */
export function applyPrune<M>(message: M, entry: PruneEntry, shape: Shape<M>): M {
  const known = pruned.get(entry);
  if (known?.from === message) return known.to as M;
  const to = withReplacement(message, entry, shape);
  pruned.set(entry, { from: message, to });
  return to;
}

function withReplacement<M>(message: M, entry: PruneEntry, shape: Shape<M>): M {
  const part = shape.parts(message)[entry.part];
  if (part === undefined) return message;
  switch (part.kind) {
    case "text":
      return shape.withPart(message, entry.part, { kind: "text", text: entry.replacement });
    case "reasoning":
      return part.signature === null
        ? shape.withPart(message, entry.part, { ...part, text: entry.replacement })
        : message;
    case "call":
      return shape.withPart(message, entry.part, { ...part, input: entry.replacement });
    case "result":
      return shape.withPart(message, entry.part, { ...part, text: entry.replacement, images: [] });
    case "image":
    case "file":
      return shape.withPart(message, entry.part, { kind: "text", text: entry.replacement });
    case "other":
      return message;
  }
}
