/**
 * The request that an answer in the log was given to, put together again as it was sent: the view as it stood before the
 * answer, and system prompt, tools and parameters as the log names them. What was erased since is named, not guessed.
 * What a middleware changed in `wrapModel` is not in the log, and so not here.
 */
import { liveRecords, memoryText } from "@palimpsest/core/internal/log";
import type { Head, MessageRecord } from "@palimpsest/core/log";
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/message";
import { jsonSchema, type SystemModelMessage, type ToolSet, tool } from "ai";
import { hiddenButShown } from "../stores/driver.ts";
import type { Store, StoredRecord } from "../stores/store.ts";
import { headAt } from "../threads/acts.ts";
import { readBody } from "../threads/conversation.ts";
import { inMemoryConversation } from "../threads/in-memory.ts";
import type { ThreadDeps } from "../threads/writer.ts";
import { bindRequest } from "./bound-request.ts";
import { markedInstructions, markedMessages } from "./cache-marks.ts";
import { requestWith } from "./fixed-part.ts";
import { type KeptRequest, type RequestParameters, withMemory } from "./kept-request.ts";
import { sentMessages } from "./request.ts";
import type { ToolSchema } from "./tool-schemas.ts";

export type PastRequest =
  | { readonly kind: "missing" }
  /** Nobody has answered at this record or after it, or not through an agent. */
  | { readonly kind: "no-request"; readonly reason: "no-answer" | "not-recorded" }
  | { readonly kind: "erased"; readonly answer: number; readonly what: "system" | "tools" | "parameters" | "memory" }
  | SentRequest;

export interface SentRequest {
  readonly kind: "request";
  /** The record that answers it. */
  readonly answer: number;
  readonly system: string | SystemModelMessage;
  readonly messages: readonly AiSdkMessage[];
  readonly tools: readonly ToolSchema[];
  /** Null where an older version didn't keep them. */
  readonly parameters: RequestParameters | null;
}

/** Of the first answer at `seq` or after it. */
export async function pastRequest(
  deps: Pick<ThreadDeps, "store" | "hash">,
  threadId: string,
  seq: number,
): Promise<PastRequest> {
  const { store, hash } = deps;
  const header = await store.header(threadId);
  if (header === undefined) return { kind: "missing" };
  const answer = await answerFrom(store, threadId, seq);
  if (answer === null) return { kind: "no-request", reason: "no-answer" };
  const kept = await keptBefore(store, threadId, answer);
  if (kept === null) return { kind: "no-request", reason: "not-recorded" };
  const texts = await textsOf(store, kept);
  if ("what" in texts) return { kind: "erased", answer, what: texts.what };
  const head = await headAt(deps, threadId, answer - 1);
  const system = withMemory(texts.system, kept, memoryBlock(head), hash);
  if (system === null) return { kind: "erased", answer, what: "memory" };
  const shape = shapeOf("ai-sdk");
  const original = (record: MessageRecord) => readBody(record, shape);
  const live = liveRecords(head, await recordsFor(store, threadId, head));
  const conversation = inMemoryConversation({ header, shape, head, live, original });
  const { schemas, parameters } = texts;
  const part = { prompt: { text: system }, tools: toolsOf(schemas), schemas };
  const bindsReasoning = parameters?.bindsReasoning ?? false;
  const whole = requestWith(part, sentMessages(conversation.view()));
  const { request } = bindRequest(whole, part, { bindsReasoning, conversation, deps: { hash } });
  const provider = parameters?.provider ?? "";
  return {
    kind: "request",
    answer,
    system: markedInstructions(request.instructions, provider),
    messages: markedMessages(request.messages, provider),
    tools: schemas,
    parameters,
  };
}

async function answerFrom(store: Store, threadId: string, seq: number): Promise<number | null> {
  const range = [seq, Number.MAX_SAFE_INTEGER] as const;
  for await (const { record } of store.records(threadId, { range, kinds: ["message"] }))
    if (record.kind === "message" && record.origin === "model") return record.seq;
  return null;
}

/** The newest one before the answer: it is written when anything in it changes. */
async function keptBefore(store: Store, threadId: string, answer: number): Promise<KeptRequest | null> {
  const query = { range: [1, answer], kinds: ["event"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query))
    if (record.kind === "event" && record.event.type === "request") return record.event as KeptRequest;
  return null;
}

interface KeptTexts {
  readonly system: string;
  readonly schemas: readonly ToolSchema[];
  readonly parameters: RequestParameters | null;
}

async function textsOf(
  store: Store,
  { stored, system = "", tools = [], parameters }: KeptRequest,
): Promise<KeptTexts | { readonly what: "system" | "tools" | "parameters" }> {
  if (stored === undefined) return { system, schemas: tools, parameters: parameters ?? null };
  const texts: Record<string, string> = {};
  for (const what of ["system", "tools", "parameters"] as const) {
    const text = await store.prompts?.get(stored[what]);
    if (text === undefined) return { what };
    texts[what] = text;
  }
  const [schemas, settings] = [texts["tools"], texts["parameters"]].map((text) => JSON.parse(text!) as unknown);
  return {
    system: texts["system"]!,
    schemas: schemas as readonly ToolSchema[],
    parameters: settings as RequestParameters,
  };
}

/** As the system prompt tags it. */
function memoryBlock({ state }: Head): string | null {
  const text = memoryText(state);
  return text === null ? null : `<memory>\n${text.trim()}\n</memory>`;
}

async function recordsFor(store: Store, threadId: string, head: Head) {
  const tail: StoredRecord[] = [];
  const range = [head.hiddenThrough + 1, head.version] as const;
  for await (const one of store.records(threadId, { range })) tail.push(one);
  const seqs = hiddenButShown(head, tail);
  const hidden: StoredRecord[] = [];
  if (seqs.length > 0) for await (const one of store.records(threadId, { seqs })) hidden.push(one);
  return [...hidden, ...tail].map(({ record }) => record);
}

export function toolsOf(schemas: readonly ToolSchema[]): ToolSet {
  return Object.fromEntries(
    schemas.map(({ name, description, inputSchema }) => {
      const schema = jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]);
      return [name, tool({ inputSchema: schema, ...(description !== undefined && { description }) })];
    }),
  );
}
