/** What a thread was created with beside its messages: `continue` comes without system prompt and tools, and means these. */
import type { Store } from "palimpsest/stores";
import { keptRequest } from "../threads/kept-request.ts";
import type { Fields } from "../vendor.ts";
import { type SystemOutline, systemFrom } from "./system-outline.ts";

/** Kept behind an answer where the system prompt stands in blocks. */
export const OUTLINE_EVENT = "system-outline";

export interface ThreadRequest {
  /** Undefined: there is none. */
  readonly system: unknown;
  readonly tools: readonly unknown[];
}

/** How far behind an answer its outline may stand. */
const NEAR = 8;

/** As it stood at the answer; null: its words were erased. */
export async function requestOfThread(
  store: Store,
  { threadId, seq }: { readonly threadId: string; readonly seq: number },
): Promise<ThreadRequest | null> {
  const kept = await keptRequest(store, threadId, seq);
  if (kept === null) return null;
  return { system: systemFrom(await outlineAt(store, threadId, seq), kept.system), tools: kept.tools };
}

/** The newest up to there. */
async function outlineAt(store: Store, threadId: string, seq: number): Promise<SystemOutline> {
  const query = { range: [1, seq + NEAR], kinds: ["event"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query)) {
    const event = record.kind === "event" ? record.event : null;
    if (event?.type === OUTLINE_EVENT) return (event as Fields)["outline"] as SystemOutline;
    // An outline stands behind the request it belongs to.
    if (event?.type === "request" && record.seq <= seq) return null;
  }
  return null;
}
