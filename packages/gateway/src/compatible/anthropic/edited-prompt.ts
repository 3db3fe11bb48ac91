/** Takes old tool results out of a thread's view: reads what is shown, plans, and appends one prune. */
import { applyPrune } from "@palimpsest/core/internal/log";
import type { PruneEntry } from "@palimpsest/core/log";
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/message";
import { commit } from "palimpsest/internal/threads";
import { counterFor } from "palimpsest/models";
import type { Store } from "palimpsest/stores";
import type { Exchange } from "../exchange.ts";
import type { Preparing } from "../held.ts";
import type { Target } from "../models.ts";
import type { ClearToolUses } from "./asked.ts";
import { type Cleared, clearToolUses, type Shown } from "./clearing.ts";

export function counterOf({ model }: Target): (text: string) => number {
  const { count, prior } = counterFor({ model });
  return (text) => Math.ceil(count(text) * prior);
}

/** Null: the trigger isn't reached, or too little would go. */
export async function pruneToolUses(
  { call, target }: Exchange<AnthropicMessage>,
  edit: ClearToolUses,
  { held, counted }: Preparing,
): Promise<Cleared | null> {
  const { tokens } = counted.count;
  if (edit.trigger.type === "input_tokens" && tokens <= edit.trigger.value) return null;
  const shown = await shownIn(call.threads.store, held.thread.id);
  const cleared = clearToolUses(shown, edit, { tokens, count: counterOf(target) });
  if (cleared.entries.length === 0) return null;
  const prune = {
    kind: "prune",
    entries: cleared.entries,
    tokensBefore: tokens,
    tokensAfter: Math.max(0, tokens - cleared.tokens),
  } as const;
  const written = await commit(held.writer(call.threads), [prune]);
  return written.kind === "committed" ? cleared : null;
}

/** The messages after what is hidden, as the view has them; those that came in another protocol are left as they are. */
async function shownIn(store: Store, threadId: string): Promise<readonly Shown[]> {
  const head = await store.head(threadId);
  if (head === undefined) return [];
  const entries: PruneEntry[] = [];
  for (const seq of head.prunes)
    for await (const { record } of store.records(threadId, { range: [seq, seq], kinds: ["prune"] }))
      if (record.kind === "prune") entries.push(...record.entries);
  const byTarget = Map.groupBy(entries, ({ target }) => target);
  const shown: Shown[] = [];
  const query = { range: [head.hiddenThrough + 1, head.version], kinds: ["message"] } as const;
  for await (const { record } of store.records(threadId, query)) {
    if (record.kind !== "message" || record.dialect !== "anthropic") continue;
    const said = JSON.parse(record.body) as AnthropicMessage;
    const message = (byTarget.get(record.seq) ?? []).reduce(
      (one, entry) => applyPrune(one, entry, anthropicShape),
      said,
    );
    shown.push({ seq: record.seq, message });
  }
  return shown;
}
