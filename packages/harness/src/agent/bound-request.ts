/**
 * A request to a model that binds its reasoning, as it is sent: its prompt was bound when it was built, and what a
 * middleware has made of it since is bound once more, so that thoughts made under another prompt are left out.
 */

import { boundReasoning } from "@palimpsest/core/internal/message";
import type { Hash } from "@palimpsest/core/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/message";
import { madeUnder, type Opening } from "../thread/bound-thoughts.ts";
import { type FixedPart, type ModelRequest, requestWith } from "./fixed-part.ts";
import type { Run } from "./run.ts";

export interface BoundRequest {
  readonly request: ModelRequest;
  /** Null where nothing is bound, or where what the provider gets can't be told for sure. */
  readonly prefix: string | null;
}

type KnownPart = Pick<FixedPart, "tools" | "schemas">;

/** What binding needs of a run, one that is over included. */
type Binding = Pick<Run, "bindsReasoning" | "conversation"> & { readonly deps: Pick<Run["deps"], "hash"> };

export function bindRequest(request: ModelRequest, part: KnownPart, run: Binding): BoundRequest {
  if (!run.bindsReasoning) return { request, prefix: null };
  const { hash } = run.deps;
  // The schemas of tools that a middleware put in the place of ours are not known here.
  const ownTools = request.tools === part.tools;
  const { messages, prefix } = boundReasoning(request.messages, {
    shape: aiSdkShape,
    hash,
    fixed: fixedHash(request.instructions, part.schemas, hash),
    madeUnder: ownTools ? madeUnder(run.conversation) : () => undefined,
  });
  return { request: { ...request, messages }, prefix: ownTools ? prefix : null };
}

/** What stands before the messages of this part's requests. It outlives the run, so it holds nothing else of it. */
export function openingOf({ prompt, schemas }: FixedPart, hash: Hash): Opening<AiSdkMessage> {
  const base = { prompt: { text: prompt.text }, tools: {} };
  let last = { instructions: prompt.text, hash: fixedHash(prompt.text, schemas, hash) };
  return (messages) => {
    const { instructions, messages: rest } = requestWith(base, messages);
    if (instructions !== last.instructions) last = { instructions, hash: fixedHash(instructions, schemas, hash) };
    return { hash: last.hash, messages: messages.length - rest.length };
  };
}

function fixedHash(instructions: string, schemas: FixedPart["schemas"], hash: Hash): string {
  return hash(JSON.stringify([instructions, schemas]));
}
