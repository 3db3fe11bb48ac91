/**
 * The request that an answer in the log was given to, put together again as it was sent: the view as it stood before the
 * answer, and system prompt, tools and parameters as the log names them. What was erased since is named, not guessed.
 * What a middleware changed in `wrapModel` is not in the log, and so not here.
 */
import {
  type Hash,
  type Head,
  liveRecords,
  type MessageRecord,
  memoryText,
  sent,
  type ViewEntry,
  type ViewOptions,
} from "@palimpsest/core/internal/log";
import {
  type AiSdkMessage,
  aiSdkShape,
  type RuleSet,
  repair,
  rulesOf,
  type Shape,
  shapeOf,
} from "@palimpsest/core/internal/message";
import { createSizer } from "@palimpsest/core/internal/prompt";
import type { Meter } from "@palimpsest/core/internal/tokens";
import { jsonSchema, type SystemModelMessage, type ToolSet, tool } from "ai";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { endingWithRequest } from "../thread/asked-model.ts";
import { type KeptRequest, type RequestParameters, thoughtBinder, withMemory } from "../thread/fixed-request.ts";
import { loadAt } from "../thread/load-at.ts";
import { type Asker, copyInMemory } from "../thread/sized-thread.ts";
import type { ThreadLog } from "../thread/thread.ts";
import { livePrompt, readBody, threadInMemory } from "../thread/thread-view.ts";
import { cutMessages, markedInstructions, markedMessages } from "../thread/window.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { bindRequest, fixedSizes, renderFixed, requestWith, type ToolSchema } from "./fixed-part.ts";
import { startRun } from "./run.ts";
import { type AgentSetup, depsOf } from "./session.ts";

export type PastRequest =
  | { readonly kind: "missing" }
  /** No model answered at this record or after it, or what was sent beside the messages wasn't stated. */
  | { readonly kind: "no-request"; readonly reason: "no-answer" | "not-recorded" }
  | { readonly kind: "erased"; readonly answer: number; readonly what: "system" | "tools" | "parameters" | "memory" }
  | SentRequest;

export interface SentRequest {
  readonly kind: "request";
  /** The record that answers it. */
  readonly answer: number;
  readonly system: string | SystemModelMessage;
  /** Of the loop's own dialect; of an agent the AI SDK's. */
  readonly messages: readonly object[];
  readonly tools: readonly object[];
  /** Null where an older version didn't keep them. */
  readonly parameters: RequestParameters | null;
  /** Its records whose words were erased since. */
  readonly redacted: readonly number[];
  /** Its compaction, where the summary was made anew or erased since. */
  readonly rewritten: readonly number[];
}

/** Of the first answer at `seq` or after it. */
export async function pastRequest(
  deps: Pick<ThreadDeps, "store" | "hash">,
  threadId: string,
  seq: number,
): Promise<PastRequest> {
  const { store, hash } = deps;
  if ((await store.header(threadId)) === undefined) return { kind: "missing" };
  const answer = await answerFrom(store, threadId, seq);
  if (answer === null) return { kind: "no-request", reason: "no-answer" };
  const event = await keptBefore(store, threadId, answer);
  if (event === null) return { kind: "no-request", reason: "not-recorded" };
  const texts = await textsOf(store, event);
  if ("what" in texts) return { kind: "erased", answer, what: texts.what };
  const load = await loadAt(store, threadId, answer - 1);
  if (load === undefined) return { kind: "missing" };
  const system = withMemory(texts.system, event, memoryBlock(load.head), hash);
  if (system === null) return { kind: "erased", answer, what: "memory" };
  const { tools, parameters } = texts;
  const whole = { kind: "request", answer, tools, parameters, ...erasedSince(load) } as const;
  if (parameters?.loop === undefined) {
    const agents = threadAt(load, aiSdkShape, undefined);
    return { ...whole, ...agentRequest(agents, { ...texts, system }, hash) };
  }
  const { dialect = "ai-sdk", times } = parameters.loop;
  const thread = threadAt(load, shapeOf<object>(dialect), times);
  return {
    ...whole,
    system,
    messages: loopMessages(thread, parameters, hash(JSON.stringify([system, tools])), hash),
  };
}

function erasedSince({ head, records }: ThreadLoad): Pick<SentRequest, "redacted" | "rewritten"> {
  const shown = new Set([head.compaction, ...head.prunes, ...head.evidence]);
  const erased = records.flatMap(({ redacted, record: { kind, seq } }) =>
    redacted && (kind === "message" || shown.has(seq)) ? [seq] : [],
  );
  const isSummary = (seq: number): boolean => seq === head.compaction;
  return { redacted: erased.filter((seq) => !isSummary(seq)), rewritten: erased.filter(isSummary) };
}

function threadAt<M extends object>(
  { header, head, records }: ThreadLoad,
  shape: Shape<M>,
  times: ViewOptions<M>["times"],
): ThreadLog<M> {
  const original = (record: MessageRecord) => readBody(record, shape);
  const live = liveRecords(
    head,
    records.map(({ record }) => record),
  );
  return threadInMemory({ header, shape, head, live, original, times });
}

/** As an agent's run sends it: a leading system message in the instructions, marks for the provider's cache. */
function agentRequest(
  thread: ThreadLog<AiSdkMessage>,
  { system, tools, parameters }: KeptTexts,
  hash: Hash,
): Pick<SentRequest, "system" | "messages"> {
  const schemas = tools as readonly ToolSchema[];
  const part = { prompt: { text: system }, tools: toolsOf(schemas), schemas };
  const bindsReasoning = parameters?.bindsReasoning ?? false;
  const sent = sentMessages(thread.view(), thread.shape, rulesOf("ai-sdk"));
  const { request } = bindRequest(requestWith(part, sent), part, { bindsReasoning, thread, deps: { hash } });
  const provider = parameters?.provider ?? "";
  return {
    system: markedInstructions(request.instructions, provider),
    messages: markedMessages(request.messages, provider, cutMessages(thread)),
  };
}

/** As `openThread` hands it out. */
function loopMessages(
  thread: ThreadLog<object>,
  { loop, bindsReasoning }: RequestParameters,
  fixed: string,
  hash: Hash,
): readonly object[] {
  const sent = sentMessages(thread.view(), thread.shape, loop!.rules);
  return bindsReasoning ? thoughtBinder(thread, hash)(() => ({ hash: fixed, messages: 0 }))(sent).messages : sent;
}

/** The messages of a view as a request sends them. */
function sentMessages<M>(view: readonly ViewEntry<M>[], shape: Shape<M>, rules: RuleSet): readonly M[] {
  const messages = view.map((entry) => sent(entry, shape));
  return endingWithRequest(repair(messages, shape, rules).messages, shape);
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
    if (record.kind === "event" && record.event.type === "request") {
      const event = record.event as KeptRequest;
      return event.stored === undefined && event.system === undefined ? null : event;
    }
  return null;
}

interface KeptTexts {
  readonly system: string;
  readonly tools: readonly object[];
  readonly parameters: RequestParameters | null;
}

async function textsOf(
  store: Store,
  { stored, system = "", tools = [], parameters }: KeptRequest,
): Promise<KeptTexts | { readonly what: "system" | "tools" | "parameters" }> {
  if (stored === undefined) return { system, tools: tools as readonly object[], parameters: parameters ?? null };
  const [text, schemas, settings] = await Promise.all(
    [stored.system, stored.tools, stored.parameters].map((hash) => store.prompts?.get(hash)),
  );
  if (text === undefined) return { what: "system" };
  if (schemas === undefined) return { what: "tools" };
  if (settings === undefined) return { what: "parameters" };
  return { system: text, tools: JSON.parse(schemas), parameters: JSON.parse(settings) };
}

/** As the system prompt tags it. */
function memoryBlock({ state }: Head): string | null {
  const text = memoryText(state);
  return text === null ? null : `<memory>\n${text.trim()}\n</memory>`;
}

export function toolsOf(schemas: readonly ToolSchema[]): ToolSet {
  return Object.fromEntries(
    schemas.map(({ name, description, inputSchema }) => {
      const schema = jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]);
      return [name, tool({ inputSchema: schema, ...(description !== undefined && { description }) })];
    }),
  );
}

// An agent as the one who would ask next in a stored thread: its model, its counter, and what it would send beside
// the messages. That is rendered on a copy of the thread in memory, so that showing a context writes nothing.

export async function askerOf(setup: AgentSetup): Promise<Asker> {
  const { counter, meter } = await setup.counting();
  return {
    model: setup.model.settings.languageModel.modelId,
    counter,
    beside: (load) => besideMessages(setup, load, meter),
  };
}

async function besideMessages(setup: AgentSetup, load: ThreadLoad, meter: Meter<AiSdkMessage>) {
  const deps = depsOf(setup, load.header.user);
  const shape = shapeOf("ai-sdk");
  const thread = copyInMemory(deps.store, load, shape);
  const run = startRun({
    runId: setup.deps.ids(),
    deps,
    thread,
    signal: setup.lifetime.closing,
    emit: () => {},
    window: () => setup.modelWindow.window().size,
    bindsReasoning: setup.model.bindsReasoning,
    prompt: livePrompt(thread, createSizer({ shape, rules: rulesOf("ai-sdk"), meter })),
    compact: () => Promise.reject(new Error("a context is only shown: nothing is compacted for it")),
  });
  const part = await renderFixed(run, setup);
  return { system: part.prompt.text, tools: part.schemas, parts: fixedSizes(part, meter) };
}
