/**
 * The events of one run as they happen, for any number of readers: each reads from the beginning, so that a transcript,
 * a UI stream and a log can follow the same run. The run goes on whether or not anybody reads; its signal stops it.
 */
import { tracingChannel } from "node:diagnostics_channel";
import type { AiSdkMessage } from "@palimpsest/core/internal/message";
import type { ContentPart, ToolResultPart, ToolSet, UIMessageChunk } from "ai";
import * as sdk from "ai";
import type { AgentEvent, Emit, RunEnd, RunResult, StepEvent } from "./events.ts";
import type { ModelObject, ModelSettings } from "./model.ts";
import { type UIStreamOptions, uiMessageStream } from "./ui/ui-stream.ts";

export interface AgentStream<O = unknown> extends AsyncIterable<AgentEvent> {
  readonly threadId: string;
  /**
   * Known before the first word: `started` once the thread is held and what was said is in the log, else how the run
   * ended (`busy`, `failed`), so that a server can answer with a status of its own.
   */
  readonly started: Promise<{ readonly kind: "started" } | RunEnd>;
  /** How the run ended, always as a value. */
  readonly result: Promise<RunResult<O>>;
  /** The pieces of text as they come. */
  readonly textStream: AsyncIterable<string>;
  /** For `createUIMessageStreamResponse`, so that `useChat` shows text, tool calls and compactions. */
  toUIMessageStream(options?: UIStreamOptions): ReadableStream<UIMessageChunk>;
}

export function startStream<O>(
  threadId: string,
  work: (emit: Emit, onStart: () => void) => Promise<RunResult>,
): AgentStream<O> {
  const buffer = new EventBuffer();
  let more = Promise.withResolvers<void>();
  let ended = false;
  const wake = (): void => {
    const waiting = more;
    more = Promise.withResolvers<void>();
    waiting.resolve();
  };
  const started = Promise.withResolvers<{ readonly kind: "started" } | RunEnd>();
  const emit: Emit = (event) => {
    buffer.push(event);
    if (event.type === "run-end") started.resolve(event.end);
    wake();
  };
  const result = work(emit, () => started.resolve({ kind: "started" })).finally(() => {
    ended = true;
    wake();
  });
  async function* read(): AsyncGenerator<AgentEvent> {
    const reader = buffer.enter();
    try {
      for (;;) {
        while (reader.at >= buffer.events.length) {
          if (ended) return;
          await more.promise;
        }
        yield buffer.events[reader.at++]!;
      }
    } finally {
      buffer.leave(reader);
    }
  }
  async function* texts(): AsyncGenerator<string> {
    for await (const event of read()) if (event.type === "text-delta") yield event.text;
  }
  return {
    threadId,
    started: started.promise,
    // What a run has read by the schema that its caller gave.
    result: result as Promise<RunResult<O>>,
    [Symbol.asyncIterator]: read,
    textStream: { [Symbol.asyncIterator]: texts },
    toUIMessageStream: (options) => uiMessageStream(read(), options),
  };
}

interface RunHooks {
  readonly onStart: () => void;
  readonly heard: Emit;
}

/** The runs of an agent that hold their thread, by thread. */
export function createRunsUnderWay() {
  const running = new Map<string, AgentStream>();
  const entering = new Map<string, Promise<void>>();
  return {
    get: (key: string): AgentStream | null => running.get(key) ?? null,
    /** Of two runs that are started at once, the first asks for the thread first: the second asks when that one holds it, waits for it or has ended. */
    enter<T>(
      key: string,
      { stream, onStart, heard }: RunHooks & { readonly stream: () => AgentStream },
      run: (hooks: RunHooks) => Promise<T>,
    ): Promise<T> {
      const before = entering.get(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      entering.set(key, promise);
      let own: AgentStream | null = null;
      const hooks: RunHooks = {
        onStart() {
          own = stream();
          running.set(key, own);
          resolve();
          onStart();
        },
        heard(event) {
          if (event.type === "thread-wait") resolve();
          heard(event);
        },
      };
      return (before === undefined ? run(hooks) : before.then(() => run(hooks))).finally(() => {
        resolve();
        if (entering.get(key) === promise) entering.delete(key);
        if (running.get(key) === own) running.delete(key);
      });
    },
  };
}

// The events of one run, kept for readers that come later. A model that answers in millions of tiny pieces must not
// fill the memory with them: once there are many events, neighbors that say the same in one piece are joined.

/** Where one reader stands: the next event it will be given. */
export interface Reader {
  at: number;
}

export class EventBuffer {
  readonly events: AgentEvent[] = [];
  readonly #readers = new Set<Reader>();
  readonly #roomy: number;

  /** Up to `roomy` events nothing is joined. */
  constructor(roomy = ROOMY) {
    this.#roomy = roomy;
  }

  push(event: AgentEvent): void {
    if (this.events.length >= this.#roomy) this.#joinLast();
    this.events.push(event);
  }

  enter(): Reader {
    const reader = { at: 0 };
    this.#readers.add(reader);
    return reader;
  }

  leave(reader: Reader): void {
    this.#readers.delete(reader);
  }

  /** The last pair between whose events no reader stands; usually it is the last of all. */
  #joinLast(): void {
    for (const at of [this.events.length - 2, this.events.length - 3]) {
      const joined = joinedOf(this.events[at], this.events[at + 1]);
      if (joined === null || [...this.#readers].some((reader) => reader.at === at + 1)) continue;
      this.events.splice(at, 2, joined);
      for (const reader of this.#readers) if (reader.at > at) reader.at--;
      return;
    }
  }
}

const ROOMY = 2_000;
/** So that what is joined stays something that can be sent on at once. */
const MOST_CHARS = 16_384;

function joinedOf(first: AgentEvent | undefined, second: AgentEvent | undefined): AgentEvent | null {
  if (first === undefined || second === undefined) return null;
  if (first.type !== "subagent-event") return joinedPieces(first, second);
  if (second.type !== "subagent-event" || first.threadId !== second.threadId) return null;
  const event = joinedPieces(first.event, second.event);
  return event === null ? null : { ...first, event: event as StepEvent };
}

function joinedPieces(first: AgentEvent, second: AgentEvent): AgentEvent | null {
  // The latest progress stands for what was before.
  if (first.type === "tool-progress")
    return second.type === first.type && first.callId === second.callId ? second : null;
  if (first.type === "tool-input-delta")
    return second.type === first.type && first.callId === second.callId ? joinedText(first, second) : null;
  if (first.type !== "text-delta" && first.type !== "reasoning-delta") return null;
  return second.type === first.type && first.id === second.id ? joinedText(first, second) : null;
}

function joinedText<E extends { readonly text: string }>(first: E, second: { readonly text: string }): E | null {
  const text = first.text + second.text;
  return text.length > MOST_CHARS ? null : { ...first, text };
}

// One streamed call of a model through the SDK, in one of two ways that come to the same answer. `streamText` is made
// for whole conversations and costs a turn a third of its CPU; the SDK's single call does all that is needed here,
// but is still marked as experimental. So it is used where the installed SDK has it and no one listens to the
// telemetry that `streamText` sends.

export interface ModelCall extends Omit<ModelSettings, "languageModel"> {
  readonly model: ModelObject;
  readonly instructions: string | sdk.SystemModelMessage;
  readonly messages: sdk.ModelMessage[];
  readonly tools: sdk.ToolSet;
  readonly abortSignal: AbortSignal;
}

export interface ModelStream {
  /** Read them to their end. */
  readonly parts: AsyncIterable<{ readonly type: string }>;
  /** Once they were read; null when the stream just ended. */
  end(): Promise<StreamEnd | null>;
}

interface StreamEnd {
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
  readonly usage: sdk.LanguageModelUsage;
  /** Null when the model said nothing at all. */
  readonly message: AiSdkMessage | null;
}

export async function openModelStream(call: ModelCall): Promise<ModelStream> {
  return SINGLE_CALL === undefined || isTraced() ? streamConversation(call) : streamSingleCall(call);
}

const SINGLE_CALL = sdk.experimental_streamLanguageModelCall as
  | typeof sdk.experimental_streamLanguageModelCall
  | undefined;

/** Looked up with every call: a listener may come later. */
function isTraced(): boolean {
  const integrations = (globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: readonly unknown[] })
    .AI_SDK_TELEMETRY_INTEGRATIONS;
  return (integrations?.length ?? 0) > 0 || TELEMETRY.hasSubscribers;
}

const TELEMETRY = tracingChannel("ai:telemetry");

export function streamConversation(call: ModelCall): ModelStream {
  const result = sdk.streamText({
    ...call,
    maxRetries: 0,
    // Promises that are not awaited must not end the process when the call fails.
    onError: () => {},
  });
  return {
    parts: result.stream,
    async end() {
      const [done] = await result.steps;
      if (done === undefined) return null;
      const { finishReason, rawFinishReason, response, usage } = done;
      const message = response.messages.find(({ role }) => role === "assistant");
      return { finishReason, rawFinishReason, usage, message: (message ?? null) as AiSdkMessage | null };
    },
  };
}

type StreamContent = Parameters<typeof answerMessage>[0];
type StreamedCall = sdk.Experimental_LanguageModelStreamPart<sdk.ToolSet>;

export async function streamSingleCall(call: ModelCall): Promise<ModelStream> {
  const { model, tools } = call;
  let content: StreamContent = [];
  let last: Extract<StreamedCall, { type: "model-call-end" }> | null = null;
  const { stream } = await SINGLE_CALL!({
    ...call,
    includeRawChunks: false,
    onLanguageModelCallEnd: (event) => {
      content = event.content;
    },
  });
  async function* parts(): AsyncGenerator<StreamedCall> {
    for await (const part of stream) {
      if (part.type === "model-call-start") logWarnings(part.warnings, model);
      if (part.type === "model-call-end") last = part;
      // A piece without a word says nothing; `streamText` leaves it out, too.
      if ((part.type === "text-delta" || part.type === "reasoning-delta") && part.text === "") continue;
      yield part;
    }
  }
  return {
    parts: parts(),
    async end() {
      if (last === null) return null;
      const { finishReason, rawFinishReason, usage } = last;
      return { finishReason, rawFinishReason, usage, message: await answerMessage(content, tools) };
    },
  };
}

/** As `streamText` does: to whom the program has named, else to the process. */
function logWarnings(warnings: sdk.CallWarning[], { provider, modelId }: ModelObject): void {
  const logger = globalThis.AI_SDK_LOG_WARNINGS;
  if (warnings.length === 0 || logger === false) return;
  if (logger !== undefined) logger({ warnings, provider, model: modelId });
  else for (const warning of warnings) process.emitWarning(`${provider} / ${modelId}: ${JSON.stringify(warning)}`);
}

// What a model said in one call, as the message that stands for it in the log. Field for field as the SDK makes it
// of a whole conversation: a thread looks the same whichever way its model was called.

type StreamedText = ContentPart<ToolSet>;

/** Null when there is nothing in it that a later request could repeat. */
export async function answerMessage(content: readonly StreamedText[], tools: ToolSet): Promise<AiSdkMessage | null> {
  const parts: object[] = [];
  for (const part of content) {
    const written = await writtenPart(part, tools);
    if (written !== null) parts.push(written);
  }
  // Parts as the SDK's own type has them; core's names the same fields, read-only.
  return parts.length === 0 ? null : ({ role: "assistant", content: parts } as unknown as AiSdkMessage);
}

async function writtenPart(part: StreamedText, tools: ToolSet): Promise<object | null> {
  switch (part.type) {
    case "text":
      if (part.text === "" && part.providerMetadata == null) return null;
      return { type: part.type, text: part.text, providerOptions: part.providerMetadata };
    case "reasoning":
      return { type: part.type, text: part.text, providerOptions: part.providerMetadata };
    case "custom":
      return { type: part.type, kind: part.kind, providerOptions: part.providerMetadata };
    case "file":
    case "reasoning-file": {
      const { base64: data, mediaType } = part.file;
      return { type: part.type, data, mediaType, providerOptions: part.providerMetadata };
    }
    case "tool-call":
      return writtenCall(part);
    case "tool-result":
    case "tool-error":
      return writtenResult(part, tools);
    case "tool-approval-request":
      return { type: part.type, approvalId: part.approvalId, toolCallId: part.toolCall.toolCallId };
    default:
      return null;
  }
}

function writtenCall(part: Extract<StreamedText, { type: "tool-call" }>): object {
  const { type, toolCallId, toolName, input, providerExecuted, providerMetadata } = part;
  return {
    type,
    toolCallId,
    toolName,
    input: part.invalid && typeof input !== "object" ? {} : input,
    providerExecuted,
    providerOptions: providerMetadata,
  };
}

/** Only results of the provider's own tools stand in an answer. */
async function writtenResult(
  part: Extract<StreamedText, { type: "tool-result" | "tool-error" }>,
  tools: ToolSet,
): Promise<object | null> {
  if (!part.providerExecuted) return null;
  const { toolCallId, toolName, providerMetadata } = part;
  const output =
    part.type === "tool-error" ? { type: "error-json", value: part.error ?? null } : await resultOutput(part, tools);
  return { type: "tool-result", toolCallId, toolName, output, providerOptions: providerMetadata };
}

/** A tool's output as the model reads it. */
export async function resultOutput(
  {
    toolCallId,
    toolName,
    input,
    output,
  }: Pick<Extract<StreamedText, { type: "tool-result" }>, "toolCallId" | "toolName" | "input" | "output">,
  tools: ToolSet,
): Promise<ToolResultPart["output"]> {
  const { toModelOutput } = (Object.hasOwn(tools, toolName) ? tools[toolName] : undefined) ?? {};
  if (toModelOutput !== undefined) return toModelOutput({ toolCallId, input, output });
  return typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output ?? null };
}
