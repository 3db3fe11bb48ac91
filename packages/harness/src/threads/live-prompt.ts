/**
 * The prompt of an open conversation under one sizer. It is a value and stays the same until something is said, a
 * report comes or the fixed part changes; then only what differs is worked out again.
 */
import { viewKey } from "@palimpsest/core/internal/tokens";
import { buildPrompt, type Prompt, type Sizer } from "@palimpsest/core/prompt";
import type { Conversation } from "./conversation.ts";

/** `before`: a prompt to start from. */
export function livePrompt<M>(
  conversation: Conversation<M>,
  sizer: Sizer<M>,
  before: Prompt<M> | null = null,
): () => Prompt<M> {
  let prompt = before;
  let built: { readonly view: unknown; readonly key: string; readonly version: number } | null = null;
  return () => {
    const view = conversation.view();
    const key = keyOf(conversation);
    const { version } = sizer;
    if (prompt === null || built?.view !== view || built.key !== key || built.version !== version) {
      prompt = buildPrompt(view, { sizer, key, before: prompt });
      built = { view, key, version };
    }
    return prompt;
  };
}

/** Names the view a conversation shows, as the records of usage do. */
export function shownAt<M>(conversation: Conversation<M>) {
  const { compaction, prunes } = conversation.head();
  return { compaction, prune: prunes.at(-1) ?? null };
}

function keyOf<M>(conversation: Conversation<M>): string {
  return viewKey(shownAt(conversation));
}
