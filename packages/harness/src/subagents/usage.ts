/**
 * What a thread and its children have used, from their logs. Each model call has one usage record in the log of the
 * thread that made it, so every token is counted once, and each is known by thread and by model.
 */
import type { StepUsage } from "../agent/events.ts";
import { addUsage, NO_USAGE } from "../models/usage.ts";
import type { Store } from "../stores/store.ts";

export interface TreeUsage {
  readonly total: StepUsage;
  /** The thread itself first, then its children in the order they were started. */
  readonly byThread: readonly { readonly threadId: string; readonly usage: StepUsage }[];
  readonly byModel: Readonly<Record<string, StepUsage>>;
}

export async function treeUsage(store: Store, threadId: string): Promise<TreeUsage> {
  const byModel = new Map<string, StepUsage>();
  const byThread: { threadId: string; usage: StepUsage }[] = [];
  for (const id of [threadId, ...(await childrenOf(store, threadId))]) {
    let usage = NO_USAGE;
    for await (const { record } of store.records(id, { kinds: ["usage"] })) {
      if (record.kind !== "usage") continue;
      usage = addUsage(usage, record);
      byModel.set(record.model, addUsage(byModel.get(record.model) ?? NO_USAGE, record));
    }
    byThread.push({ threadId: id, usage });
  }
  const total = byThread.reduce((all, { usage }) => addUsage(all, usage), NO_USAGE);
  return { total, byThread, byModel: Object.fromEntries(byModel) };
}

/** Ids of the threads that sub-agents of this one worked in, in the order they were started. */
export async function childrenOf(store: Store, threadId: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { record } of store.records(threadId, { kinds: ["event"] })) {
    if (record.kind !== "event" || record.event.type !== "subagent-start") continue;
    if (typeof record.event["threadId"] === "string") found.add(record.event["threadId"]);
  }
  return found;
}
