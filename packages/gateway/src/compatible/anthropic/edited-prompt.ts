/** Takes old tool results out of a thread's view: reads what is shown, plans, and appends one prune. */
import { applyPrune } from "@palimpsest/core/internal/log";
import type { PruneEntry } from "@palimpsest/core/log";
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/message";
import { commit } from "palimpsest/internal/threads";
import { counterFor } from "palimpsest/models";
import type { Store } from "palimpsest/stores";
import type { Exchange } from "../exchange.ts";
import type { Preparing } from "../held.ts";
import { bindsThoughts, type Target } from "../models.ts";
import { lengthRule } from "../policy.ts";
import { type ClearToolUses, readAsked } from "./asked.ts";
import { type Cleared, clearThinking, clearToolUses, type Shown } from "./clearing.ts";

export function counterOf({ model }: Target): (text: string) => number {
  const { count, prior } = counterFor({ model });
  return (text) => Math.ceil(count(text) * prior);
}

/** Null: the trigger isn't reached, or too little would go. */
export async function pruneToolUses(
  { call, target }: Exchange<AnthropicMessage>,
  edit: ClearToolUses,
  { claimed, counted }: Preparing<AnthropicMessage>,
): Promise<Cleared | null> {
  const { tokens } = counted.count;
  if (edit.trigger.type === "input_tokens" && tokens <= edit.trigger.value) return null;
  const shown = await shownIn(call.threads.store, claimed.thread.id);
  const cleared = clearToolUses(shown, edit, { tokens, count: counterOf(target) });
  if (cleared.entries.length === 0) return null;
  const prune = {
    kind: "prune",
    entries: cleared.entries,
    tokensBefore: tokens,
    tokensAfter: Math.max(0, tokens - cleared.tokens),
  } as const;
  const written = await claimed.thread.act((writer) => commit(writer, [prune]));
  return written.kind === "committed" ? cleared : null;
}

/** What the request's edits would leave, worked out on the messages alone. */
export function editedMessages(
  { body, policy, target }: Exchange<AnthropicMessage>,
  messages: readonly AnthropicMessage[],
): readonly AnthropicMessage[] | null {
  const read = readAsked({ context_management: body["context_management"] });
  if (lengthRule(policy).vendors === "leave" || read.kind === "problem" || read.asked.edits === null) return null;
  const count = counterOf(target);
  const binds = bindsThoughts(target);
  return read.asked.edits.reduce<readonly AnthropicMessage[]>((left, edit) => {
    if (edit.type === "clear_thinking_20251015") return clearThinking(left, edit, { binds, count }).messages;
    if (edit.type !== "clear_tool_uses_20250919") return left;
    const tokens = left.reduce((sum, message) => sum + count(JSON.stringify(message)), 0);
    const shown = left.map((message, seq) => ({ seq, message }));
    const { entries } = clearToolUses(shown, edit, { tokens, count });
    const byTarget = Map.groupBy(entries, (entry) => entry.target);
    return left.map((message, seq) =>
      (byTarget.get(seq) ?? []).reduce((one, entry) => applyPrune(one, entry, anthropicShape), message),
    );
  }, messages);
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
