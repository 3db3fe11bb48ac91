/** What a request said beside its messages, as the log keeps it: once, where it differs from the one before. */
import type { Store } from "palimpsest/stores";

export interface KeptRequest {
  /** All its words, as one text. */
  readonly system: string;
  readonly tools: readonly unknown[];
}

interface RequestEvent {
  readonly stored?: { readonly system: string; readonly tools: string };
  readonly system?: string;
  readonly tools?: readonly unknown[];
}

/** As it stood at that record; null: its words were erased. */
export async function keptRequest(store: Store, threadId: string, seq: number): Promise<KeptRequest | null> {
  const { stored, system = "", tools = [] } = await lastRequest(store, threadId, seq);
  if (stored === undefined) return { system, tools };
  const [words, list] = await Promise.all([store.prompts?.get(stored.system), store.prompts?.get(stored.tools)]);
  if (words === undefined || list === undefined) return null;
  return { system: words, tools: JSON.parse(list) as readonly unknown[] };
}

async function lastRequest(store: Store, threadId: string, seq: number): Promise<RequestEvent> {
  const query = { range: [1, seq], kinds: ["event"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query))
    if (record.kind === "event" && record.event.type === "request") return record.event as RequestEvent;
  return {};
}
