/** A response as the log has it. */
import type { MessageRecord, UsageRecord } from "@palimpsest/core/log";
import { type ResponsesItem, type ResponsesMessage, responsesItems } from "@palimpsest/core/message";
import type { Store } from "palimpsest/stores";
import type { Secret } from "../matching/chain.ts";
import { type KeptRequest, keptRequest } from "../threads/kept-request.ts";
import { summaryIn } from "../threads/summary.ts";
import type { Fields } from "../vendor.ts";
import { compactionItem } from "./compaction-item.ts";
import type { HeldCall } from "./held-call.ts";
import type { FoundResponse, ResponseReceipt } from "./response-ids.ts";
import { responsesUsage } from "./usage.ts";

export async function storedResponse({ call, secret }: HeldCall, found: FoundResponse): Promise<Fields> {
  const { id, pointer, header, answer, receipt } = found;
  const { store, ids } = call.threads;
  const request = await keptRequest(store, pointer.threadId, answer?.seq ?? pointer.seq);
  const status = receipt?.status ?? (await statusOf(found, { store, owner: ids() }));
  return {
    object: "response",
    created_at: Math.floor(Date.parse(answer?.at ?? header.createdAt) / 1000),
    status,
    model: "unknown",
    error: status === "failed" ? { code: "server_error", message: "it was cut off before it was answered" } : null,
    incomplete_details: null,
    instructions: instructionsIn(request, receipt),
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: request?.tools ?? [],
    top_p: null,
    usage: answer === null ? null : await usageOf(store, pointer.threadId, answer.seq),
    ...receipt?.fields,
    id,
    output: [...(await compactionIn(store, found, secret)), ...(answer === null ? [] : outputOf(answer))],
  };
}

/** They are the beginning of all that a system prompt said. */
function instructionsIn(request: KeptRequest | null, receipt: ResponseReceipt | null): string | null {
  const characters = receipt?.instructions ?? null;
  return request === null || characters === null ? null : request.system.slice(0, characters);
}

/** The item of the compaction that was made for it, made again. */
async function compactionIn(
  store: Store,
  { header, receipt }: FoundResponse,
  secret: Secret,
): Promise<readonly Fields[]> {
  const told = receipt?.compaction ?? null;
  const summary = told && (await summaryIn(store, header.id, told.record));
  return summary === null ? [] : [compactionItem(header, { ...told!, text: summary.text }, { secret, id: told!.id })];
}

/** One without an answer is being made elsewhere, or was when whoever made it stopped. */
async function statusOf(
  { answer, pointer }: FoundResponse,
  { store, owner }: { readonly store: Store; readonly owner: string },
): Promise<string> {
  if (answer !== null) return answer.origin === "aborted" ? "incomplete" : "completed";
  const taken = await store.acquireLease(pointer.threadId, owner, 1000);
  if (taken.kind === "acquired") await store.releaseLease(taken.lease);
  return taken.kind === "busy" ? "in_progress" : "failed";
}

function outputOf({ body }: MessageRecord): readonly ResponsesItem[] {
  return responsesItems([JSON.parse(body) as ResponsesMessage]);
}

async function usageOf(store: Store, threadId: string, of: number): Promise<Fields | null> {
  const range = [of + 1, of + 2] as const;
  let usage: UsageRecord | null = null;
  for await (const { record } of store.records(threadId, { range, kinds: ["usage"] }))
    if (record.kind === "usage" && record.of === of) usage = record;
  if (usage === null) return null;
  const { input, output, cacheRead: cached } = usage;
  return responsesUsage({ input, output, cached });
}
