/** What a thread was created with beside its messages: `continue` comes without system prompt and tools, and means these. */
import type { Store } from "palimpsest/stores";
import type { Fields } from "../vendor.ts";
import { type SystemOutline, systemFrom } from "./system-outline.ts";

/** Kept behind an answer where the system prompt stands in blocks. */
export const OUTLINE_EVENT = "system-outline";

export interface ThreadRequest {
  /** Undefined: there is none. */
  readonly system: unknown;
  readonly tools: readonly unknown[];
}

interface KeptRequest {
  readonly stored?: { readonly system: string; readonly tools: string };
  readonly system?: string;
  readonly tools?: readonly unknown[];
}

/** How far behind an answer its outline may stand. */
const NEAR = 8;

/** As it stood at the answer; null: its words were erased. */
export async function requestOfThread(
  store: Store,
  { threadId, seq }: { readonly threadId: string; readonly seq: number },
): Promise<ThreadRequest | null> {
  let kept: KeptRequest | null = null;
  let outline: SystemOutline = null;
  const query = { range: [1, seq + NEAR], kinds: ["event"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query)) {
    if (record.kind !== "event") continue;
    const { event } = record;
    if (event.type === OUTLINE_EVENT) outline ??= (event as Fields)["outline"] as SystemOutline;
    if (event.type !== "request" || record.seq > seq) continue;
    kept = event as KeptRequest;
    break;
  }
  if (kept === null) return { system: undefined, tools: [] };
  const { stored } = kept;
  if (stored === undefined) return { system: systemFrom(outline, kept.system ?? ""), tools: kept.tools ?? [] };
  const [system, tools] = await Promise.all([store.prompts?.get(stored.system), store.prompts?.get(stored.tools)]);
  if (system === undefined || tools === undefined) return null;
  return { system: systemFrom(outline, system), tools: JSON.parse(tools) as readonly unknown[] };
}
