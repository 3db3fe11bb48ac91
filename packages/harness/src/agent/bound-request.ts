/**
 * A request to a model that binds its reasoning: thoughts made under another prompt are left out, and the request's hash
 * is what its answer is recorded with. It stands behind all middleware, so that it sees what is really sent.
 */

import { boundReasoning, signaturesOf } from "@palimpsest/core/internal/message";
import { aiSdkShape } from "@palimpsest/core/message";
import type { FixedPart, ModelRequest } from "./fixed-part.ts";
import type { Run } from "./run.ts";

export interface BoundRequest {
  readonly request: ModelRequest;
  /** Null where nothing is bound, or where what the provider gets can't be told for sure. */
  readonly prefix: string | null;
}

/** What binding needs of a run, one that is over included. */
type Binding = Pick<Run, "bindsReasoning" | "conversation"> & { readonly deps: Pick<Run["deps"], "hash"> };

export function bindRequest(
  request: ModelRequest,
  part: Pick<FixedPart, "tools" | "schemas">,
  run: Binding,
): BoundRequest {
  if (!run.bindsReasoning) return { request, prefix: null };
  const { hash } = run.deps;
  // The schemas of tools that a middleware put in the place of ours are not known here.
  const known = request.tools === part.tools;
  const { messages, prefix } = boundReasoning(request.messages, {
    shape: aiSdkShape,
    hash,
    fixed: hash(JSON.stringify([request.instructions, part.schemas])),
    madeUnder: known ? madeUnder(run) : () => undefined,
  });
  return { request: { ...request, messages }, prefix: known ? prefix : null };
}

function madeUnder({ conversation }: Binding): (signature: string) => string | undefined {
  const found = new Map<string, string>();
  for (const record of conversation.live().tail) {
    if (record.prefix === undefined) continue;
    for (const signature of signaturesOf(aiSdkShape.parts(conversation.original(record)))) {
      found.set(signature, record.prefix);
    }
  }
  return (signature) => found.get(signature);
}
