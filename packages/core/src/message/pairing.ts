/**
 * The rule all providers share: a message's calls are all answered, once each, directly after it and before anything else.
 * Results may be split over several messages, and an id may serve again later, as long as each use is paired in place.
 */
import type { Part, Shape } from "./shape.ts";

/** A place where a rule is broken. */
export interface Finding {
  readonly index: number;
  readonly detail: string;
}

export function unpaired<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  const findings: Finding[] = [];
  let calls: readonly string[] = [];
  let open = new Set<string>();
  let caller = 0;
  let interrupted = false;
  const close = () => {
    for (const id of open) findings.push({ index: caller, detail: `call ${id} has no result` });
  };

  for (const [index, message] of messages.entries()) {
    if (shape.role(message) !== "tool") {
      close();
      calls = shape.calls(message);
      open = calls.length === 0 ? NONE : new Set(calls);
      caller = index;
      interrupted = false;
      if (open.size < calls.length) findings.push({ index, detail: "two calls share an id" });
      continue;
    }
    for (const part of shape.parts(message)) {
      if (part.kind !== "result") interrupted ||= interrupts(part);
      else if (!open.delete(part.id)) findings.push({ index, detail: strayDetail(part.id, calls) });
      else if (interrupted) findings.push({ index, detail: `result ${part.id} stands after other content` });
    }
  }
  close();
  return findings;
}

const NONE = new Set<string>();

/** Blocks we don't interpret, such as an approval, may stand between results. */
export const interrupts = (part: Part): boolean =>
  part.kind === "text" || part.kind === "image" || part.kind === "file";

const strayDetail = (id: string, calls: readonly string[]): string =>
  calls.includes(id) ? `call ${id} has a second result` : `result ${id} has no call before it`;
