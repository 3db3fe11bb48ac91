/**
 * The thoughts of an open thread, for a model that takes a thought back only behind the very request it was made under:
 * the record of each answer says which that was.
 */
import { reasoningBinder, signaturesOf } from "@palimpsest/core/internal/message";
import type { Hash, LiveRecords } from "@palimpsest/core/log";
import type { BindReasoning } from "@palimpsest/core/prompt";
import type { Conversation } from "./conversation.ts";

/** What stands before the messages: its hash, and how many of the first messages belong to it. */
export type Opening<M> = (messages: readonly M[]) => { readonly hash: string; readonly messages: number };

export function thoughtBinder<M extends object>(
  conversation: Conversation<M>,
  hash: Hash,
): (opening: Opening<M>) => BindReasoning<M> {
  const bind = reasoningBinder({ shape: conversation.shape, hash, madeUnder: madeUnder(conversation) });
  return (opening) => (messages) => {
    const { hash: fixed, messages: first } = opening(messages);
    if (first === 0) return bind(messages, fixed);
    const bound = bind(messages.slice(first), fixed);
    return { ...bound, messages: [...messages.slice(0, first), ...bound.messages] };
  };
}

/** By its signature: the hash of the request that a visible thought was made under. */
export function madeUnder<M>(conversation: Conversation<M>): (signature: string) => string | undefined {
  let live: LiveRecords | null = null;
  let prefixes = new Map<string, string>();
  return (signature) => {
    if (live !== conversation.live()) {
      live = conversation.live();
      prefixes = prefixesIn(conversation);
    }
    return prefixes.get(signature);
  };
}

function prefixesIn<M>({ live, original, shape }: Conversation<M>): Map<string, string> {
  const prefixes = new Map<string, string>();
  for (const record of live().tail) {
    if (record.prefix === undefined) continue;
    for (const signature of signaturesOf(shape.parts(original(record)))) prefixes.set(signature, record.prefix);
  }
  return prefixes;
}
