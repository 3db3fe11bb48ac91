/**
 * A run's events as the AI SDK's UI message chunks, so that `useChat` works: one message per run, a part per text, tool
 * call, compaction and sub-agent. A compaction is a `data-compaction` part; the summarizer's own words are never in here.
 * An event that brings its payload as `data` is passed on as it is; others that aren't named here stay inside.
 */
import { isToolUIPart, type UIMessage, type UIMessageChunk } from "ai";
import type { SubagentEvent } from "../../features/subagents/result.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, RunEnd } from "../events.ts";

export interface UIStreamOptions {
  /**
   * What a browser is told of an error: an `AgentError` that ended the run, or a tool's. By default "An error occurred.",
   * since errors name hosts, paths and worse.
   */
  readonly onError?: ((error: Error) => string) | undefined;
  /** The messages the browser has, as in the AI SDK: where the last is an answer, the run goes on with that one. */
  readonly originalMessages?: readonly UIMessage[] | undefined;
  /** True unless given. */
  readonly sendReasoning?: boolean | undefined;
  /** Asked with every event; what isn't undefined becomes the message's metadata. */
  readonly messageMetadata?: ((options: { readonly event: AgentEvent }) => unknown) | undefined;
}

export function uiMessageStream(
  events: AsyncIterable<AgentEvent>,
  options: UIStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const chunks = chunksOf(events, options);
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

async function* chunksOf(
  events: AsyncIterable<AgentEvent>,
  { onError = () => "An error occurred.", sendReasoning = true, messageMetadata, originalMessages }: UIStreamOptions,
): AsyncGenerator<UIMessageChunk, undefined> {
  const parts = new OpenParts(originalMessages?.at(-1));
  for await (const event of events) {
    if (!sendReasoning && isReasoning(event)) continue;
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") yield* parts.close();
    if (AFTER_A_CALL.has(event.type)) yield* parts.dropInputs(onError);
    const metadata = messageMetadata?.({ event });
    yield* withMetadata(chunksFor(event, parts, onError), metadata);
  }
  return undefined;
}

function isReasoning(event: AgentEvent): boolean {
  if (event.type === "subagent-event") return isReasoning(event.event);
  return event.type === "reasoning-delta" || (event.type === "file-add" && event.of === "reasoning");
}

/** By then every call of the model has started: an input that has not was taken back. */
const AFTER_A_CALL: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "model-retry",
  "model-fallback",
  "overflow-recover",
  "step-end",
  "run-end",
]);

/** Start and finish carry metadata themselves. */
function* withMetadata(chunks: Iterable<UIMessageChunk>, messageMetadata: unknown): Generator<UIMessageChunk> {
  let open = messageMetadata !== undefined;
  for (const chunk of chunks) {
    const carries = open && (chunk.type === "start" || chunk.type === "finish");
    yield carries ? { ...chunk, messageMetadata } : chunk;
    if (carries) open = false;
  }
  if (open) yield { type: "message-metadata", messageMetadata };
}

interface AnnouncedCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly by?: "provider";
}

type TellError = NonNullable<UIStreamOptions["onError"]>;

/** A part of text is open from its first piece until something else comes. */
class OpenParts {
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | null = null;
  compactions = 0;
  stepOpen = false;
  /** The message of the browser's that this run goes on with. */
  readonly goesOn: string | null;
  /** Calls that the browser shows. */
  readonly calls: Set<string>;
  /** Calls whose input is being written, with the tool's name. */
  readonly #inputs = new Map<string, string>();
  /** By the call that asked for them: what is told of children that failed, instead of the reason itself. */
  readonly childErrors = new Map<string, string>();

  constructor(last: UIMessage | undefined) {
    this.goesOn = last?.role === "assistant" ? last.id : null;
    const shown = this.goesOn === null ? [] : last!.parts.filter(isToolUIPart);
    this.calls = new Set(shown.map(({ toolCallId }) => toolCallId));
  }

  /** A call that the browser shows already keeps what it shows of it. */
  *call({ callId, name, input, by }: AnnouncedCall): Generator<UIMessageChunk> {
    this.#inputs.delete(callId);
    if (this.calls.has(callId)) return;
    this.calls.add(callId);
    const providerExecuted = by === "provider" ? { providerExecuted: true } : {};
    yield { type: "tool-input-available", toolCallId: callId, toolName: name, input, ...providerExecuted };
  }

  *input(callId: string, name: string): Generator<UIMessageChunk> {
    if (this.calls.has(callId)) return;
    this.#inputs.set(callId, name);
    yield { type: "tool-input-start", toolCallId: callId, toolName: name };
  }

  *inputPiece(toolCallId: string, inputTextDelta: string): Generator<UIMessageChunk> {
    if (this.#inputs.has(toolCallId)) yield { type: "tool-input-delta", toolCallId, inputTextDelta };
  }

  /** A call that will never be made must not look as if it were still being written. */
  *dropInputs(onError: TellError): Generator<UIMessageChunk> {
    for (const [toolCallId, toolName] of this.#inputs) {
      const errorText = onError(new Error(`the model did not finish its call of ${toolName}`));
      // Not left out, which the page's transport refuses.
      yield { type: "tool-input-error", toolCallId, toolName, input: null, errorText };
    }
    this.#inputs.clear();
  }

  *piece(kind: "text" | "reasoning", id: string, delta: string): Generator<UIMessageChunk> {
    if (this.#open?.id !== id) {
      yield* this.close();
      this.#open = { kind, id };
      yield { type: `${kind}-start`, id };
    }
    yield { type: `${kind}-delta`, id, delta };
  }

  *close(): Generator<UIMessageChunk> {
    if (this.#open !== null) yield { type: `${this.#open.kind}-end`, id: this.#open.id };
    this.#open = null;
  }
}

function* chunksFor(event: AgentEvent, parts: OpenParts, onError: TellError): Generator<UIMessageChunk> {
  switch (event.type) {
    case "run-start":
      return yield { type: "start", messageId: parts.goesOn ?? event.runId };
    case "step-start":
      parts.stepOpen = true;
      return yield { type: "start-step" };
    case "text-delta":
      return yield* parts.piece("text", event.id, event.text);
    case "reasoning-delta":
      return yield* parts.piece("reasoning", event.id, event.text);
    case "tool-input-start":
      return yield* parts.input(event.callId, event.name);
    case "tool-input-delta":
      return yield* parts.inputPiece(event.callId, event.text);
    case "tool-start":
      return yield* parts.call(event);
    case "source-add":
      return yield sourceChunk(event);
    case "file-add":
      return yield fileChunk(event);
    case "tool-progress":
      if (!parts.calls.has(event.callId)) return;
      return yield { type: "tool-output-available", toolCallId: event.callId, output: event.output, preliminary: true };
    case "approval-ask":
      yield* parts.call(event);
      return yield {
        type: "tool-approval-request",
        approvalId: event.callId,
        toolCallId: event.callId,
        ...(event.reason !== null && { reason: event.reason }),
      };
    case "tool-end":
      // Of a call in a message before, which this stream can't change.
      if (!parts.calls.has(event.callId)) return;
      return yield toolOutput(event, parts, onError);
    case "compaction-end":
      if (event.outcome.kind === "unchanged") return;
      return yield { type: "data-compaction", id: `compaction-${++parts.compactions}`, data: compactionData(event) };
    case "subagent-start":
    case "subagent-step":
    case "subagent-end":
      // One part per child, replaced as it goes on.
      return yield { type: "data-subagent", id: event.threadId, data: childData(event, parts, onError) };
    case "subagent-event":
      // For `onData` only: a message isn't made of what its children say.
      return yield { type: "data-subagent-event", data: childStep(event, onError), transient: true };
    case "title-set":
      return yield { type: "data-title", data: { title: event.title } };
    case "question-ask":
      return yield { type: "data-question", data: { question: event.question, options: event.options } };
    case "step-end":
      parts.stepOpen = false;
      return yield { type: "finish-step" };
    case "run-end":
      return yield* endChunks(event.end, parts, onError);
    default:
      if ("data" in event) yield dataPart(event);
  }
}

function sourceChunk({ id: sourceId, title, url, document }: AgentEvent & { type: "source-add" }): UIMessageChunk {
  if (url !== undefined) return { type: "source-url", sourceId, url, ...(title !== null && { title }) };
  const { mediaType = "application/octet-stream", filename = null } = document ?? {};
  return {
    type: "source-document",
    sourceId,
    mediaType,
    title: title ?? filename ?? sourceId,
    ...(filename !== null && { filename }),
  };
}

function fileChunk({ of, mediaType, data }: AgentEvent & { type: "file-add" }): UIMessageChunk {
  const type = of === "reasoning" ? "reasoning-file" : "file";
  return { type, mediaType, url: `data:${mediaType};base64,${data}` };
}

/** A feature's own event, as the AI SDK spells such parts: with an id, a later one replaces it. */
function dataPart({ type, ...part }: { readonly type: string; readonly data?: unknown }): UIMessageChunk {
  return { type: `data-${type}`, data: part.data, ...("id" in part && { id: String(part.id) }) };
}

function toolOutput(
  { callId, output, isError, denied }: AgentEvent & { type: "tool-end" },
  parts: OpenParts,
  onError: TellError,
): UIMessageChunk {
  const toolCallId = callId;
  if (denied === true) return { type: "tool-output-denied", toolCallId };
  if (isError) return { type: "tool-output-error", toolCallId, errorText: onError(new Error(String(output))) };
  const reason = parts.childErrors.get(callId);
  const safe = reason === undefined ? output : { ...(output as object), reason };
  return { type: "tool-output-available", toolCallId, output: safe };
}

/** Why a child failed is an error like any other; the other reasons are sentences of ours. */
function childData(event: SubagentEvent, parts: OpenParts, onError: TellError): SubagentEvent {
  if (event.type !== "subagent-end" || event.status !== "failed" || event.reason === null) return event;
  const reason = onError(new Error(event.reason));
  parts.childErrors.set(event.callId, reason);
  return { ...event, reason };
}

/** A child's tool that failed says no more than the parent's would. */
function childStep(child: AgentEvent & { type: "subagent-event" }, onError: TellError): typeof child {
  const { event } = child;
  if (event.type !== "tool-end" || !event.isError) return child;
  return { ...child, event: { ...event, output: onError(new Error(String(event.output))) } };
}

/** The numbers of a compaction; not the messages, which the browser already shows. */
function compactionData({ outcome }: AgentEvent & { type: "compaction-end" }) {
  if (outcome.kind === "unchanged") return null;
  const { rung, reason, tokensBefore, tokensAfter, hidden, ms } = outcome;
  return { rung, reason, tokensBefore, tokensAfter, hidden, ms };
}

function* endChunks(end: RunEnd, parts: OpenParts, onError: TellError): Generator<UIMessageChunk> {
  if (parts.stepOpen) yield { type: "finish-step" };
  switch (end.kind) {
    case "answered":
      return yield { type: "finish", finishReason: end.finish as "stop" };
    case "asked":
      return yield { type: "finish", finishReason: "stop" };
    case "approval":
    case "client-calls":
    case "budget":
    case "step-limit":
      return yield { type: "finish", finishReason: "tool-calls" };
    case "aborted":
      return yield { type: "abort" };
    case "busy":
      return yield { type: "error", errorText: "another run holds this thread" };
    case "failed":
      return yield { type: "error", errorText: onError(new AgentError(end.code, end.message, end)) };
    default:
      return yield { type: "finish", finishReason: "other" };
  }
}
