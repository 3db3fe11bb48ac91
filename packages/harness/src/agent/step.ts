/**
 * One attempt of one model call, read to its end; its tools are run elsewhere. Whatever happens
 * comes back as a value: answered, failed or aborted, with the text that was shown until then. Writes nothing.
 */
import type { LanguageModelV4Source } from "@ai-sdk/provider";
import type { AiSdkMessage } from "@palimpsest/core/internal/message";
import { type ModelMessage, wrapLanguageModel } from "ai";
import { scoped, startTimer } from "../long-work.ts";
import { withoutExecute } from "../models/wrap.ts";
import { isOverflowFinish, markedInstructions, markedMessages } from "../thread/window.ts";
import { AgentError, messageOf } from "./errors.ts";
import type { Emit, StepUsage } from "./events.ts";
import type { ModelRequest } from "./fixed-part.ts";
import type { ResponseFormat } from "./input.ts";
import type { ModelObject, ModelSettings } from "./model.ts";
import { openModelStream } from "./stream.ts";
import { shown, type ToolCall } from "./tools.ts";

export interface Answered {
  readonly kind: "answered";
  /** Null when the model said nothing at all. */
  readonly message: AiSdkMessage | null;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: string;
  readonly usage: StepUsage | null;
  /** Where the model binds its reasoning: the hash of the request that this answers. */
  readonly prefix?: string | null;
}

export type StepOutcome =
  | Answered
  /** `text` was shown before it failed; with none of it the call can be tried again. */
  | { readonly kind: "failed"; readonly error: unknown; readonly text: string; readonly shown: boolean }
  | { readonly kind: "aborted"; readonly text: string };

interface StepContext {
  readonly step: number;
  readonly settings: ModelSettings;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly prefix: string | null;
  readonly limits: CallLimits;
  readonly clock: () => Date;
  /** Of a run that is to answer with data. */
  readonly format: ResponseFormat | undefined;
}

export async function callModel(request: ModelRequest, context: StepContext): Promise<StepOutcome> {
  const { signal, limits } = context;
  const seen = new Seen(context);
  let silence: SilenceTimer | undefined;
  try {
    return await scoped(signal, (own) => {
      silence = new SilenceTimer(limits, (error) => own.abort(error));
      return stream(request, { ...context, signal: own.signal }, { seen, silence });
    });
  } catch (error) {
    return signal.aborted ? seen.aborted() : seen.failed(error);
  } finally {
    silence?.stop();
  }
}

async function stream(
  request: ModelRequest,
  { settings, signal, prefix, format }: StepContext,
  { seen, silence }: { readonly seen: Seen; readonly silence: SilenceTimer },
): Promise<StepOutcome> {
  const { languageModel: own, ...given } = settings;
  const languageModel = request.model ?? own;
  const { parts, end } = await openModelStream({
    ...given,
    ...request.settings,
    model: asked(languageModel, format),
    instructions: markedInstructions(request.instructions, languageModel.provider),
    // Checked when they came in; core's type names the same fields, read-only.
    messages: markedMessages(request.messages, languageModel.provider, request.cuts) as unknown as ModelMessage[],
    tools: withoutExecute(request.tools),
    abortSignal: signal,
  });
  for await (const part of parts) {
    // Stopped meanwhile: no listener is left.
    signal.throwIfAborted();
    if (!ANNOUNCEMENTS.has(part.type)) silence.heard();
    seen.take(part as StreamPart);
  }
  signal.throwIfAborted();
  if (seen.error !== undefined) return seen.failed(seen.error.value);
  const done = await end();
  if (done === null) return seen.failed(new AgentError("stream-cut", "the model's stream ended without an answer"));
  const { finishReason, rawFinishReason, message, usage } = done;
  const cut = brokenEnd(finishReason, rawFinishReason);
  if (cut !== null) return seen.failed(cut);
  if (isOverflowFinish(rawFinishReason) && message === null) return seen.failed(windowFull());
  return {
    kind: "answered",
    message,
    text: seen.text,
    calls: seen.calls,
    finish: finishReason,
    usage: usageOf(usage),
    prefix,
  };
}

/** The SDK says these itself; the model has said nothing yet. */
const ANNOUNCEMENTS: ReadonlySet<string> = new Set(["start", "start-step", "model-call-start"]);

/**
 * The model as it is asked. The format is set here and not by the SDK's `output`, which would hold text back. A wrong
 * address often answers with a web page, which a provider reads as a stream without an answer.
 */
function asked(model: ModelObject, responseFormat: ResponseFormat | undefined): ModelObject {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => (responseFormat === undefined ? params : { ...params, responseFormat }),
      async wrapStream({ doStream }) {
        const result = await doStream();
        const type = Object.entries(result.response?.headers ?? {}).find(([name]) => /^content-type$/i.test(name))?.[1];
        if (!type?.startsWith("text/html")) return result;
        await result.stream.cancel();
        throw new AgentError(
          "bad-response",
          `the provider of ${model.modelId} answered with a web page (${type}) instead of the model's stream: check base_url, which usually ends in /v1`,
        );
      },
    },
  });
}

/** A step that did not end is never an answer, whatever text it has. */
function brokenEnd(finish: string, raw: string | undefined): AgentError | null {
  const broken = finish === "error" || finish === "interrupted" || (finish === "other" && raw === undefined);
  return broken ? new AgentError("stream-cut", `the model's stream was cut off (${finish}): ask again`) : null;
}

function windowFull(): AgentError {
  return new AgentError("too-long", "the context window was exceeded (model_context_window_exceeded)");
}

function usageOf(usage: {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly inputTokenDetails: {
    readonly cacheReadTokens?: number | undefined;
    readonly cacheWriteTokens?: number | undefined;
  };
}): StepUsage | null {
  if (usage.inputTokens === undefined) return null;
  return {
    input: usage.inputTokens,
    output: usage.outputTokens ?? 0,
    cacheRead: usage.inputTokenDetails.cacheReadTokens ?? 0,
    cacheWrite: usage.inputTokenDetails.cacheWriteTokens ?? 0,
  };
}

// What came out of a model's stream so far, told as events while it comes: pieces of text and of tool inputs,
// sources, files, and what the provider's own tools do. Keeps what the answer is made of, within the limits of a
// call.

/** The parts of the SDK's stream that matter here; all others are of no concern. */
type StreamPart =
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly text: string }
  | { readonly type: "tool-input-start"; readonly id: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | (AnswerCallPart & {
      readonly type: "tool-call";
      readonly invalid?: boolean;
      readonly error?: unknown;
    })
  | (AnswerCallPart & { readonly type: "tool-result"; readonly output: unknown; readonly preliminary?: boolean })
  | (AnswerCallPart & { readonly type: "tool-error"; readonly error: unknown })
  | LanguageModelV4Source
  | {
      readonly type: "file" | "reasoning-file";
      readonly file: { readonly base64: string; readonly mediaType: string };
    }
  | { readonly type: "error"; readonly error: unknown };

interface AnswerCallPart {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerExecuted?: boolean;
}

class Seen {
  text = "";
  /** Something that would be said twice if the model were asked again. The start of a tool's input is taken back instead. */
  shown = false;
  calls: ToolCall[] = [];
  error: { readonly value: unknown } | undefined;
  readonly #context: StepContext;
  /** When the provider's own tools were called. */
  readonly #called = new Map<string, number>();
  #size = 0;

  constructor(context: StepContext) {
    this.#context = context;
  }

  take(part: StreamPart): void {
    const { emit } = this.#context;
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        this.#show(part);
        return;
      case "tool-input-start":
        emit({ type: "tool-input-start", callId: part.id, name: part.toolName });
        return;
      case "tool-input-delta":
        this.#add(part.delta.length);
        emit({ type: "tool-input-delta", callId: part.id, text: part.delta });
        return;
      case "tool-call":
        if (part.providerExecuted) this.#startTool(part);
        else this.calls.push(toolCall(part));
        return;
      case "tool-result":
      case "tool-error":
        if (part.providerExecuted) this.#endTool(part);
        return;
      case "source":
        this.shown = true;
        emit(sourceEvent(part));
        return;
      case "file":
      case "reasoning-file":
        this.#file(part);
        return;
      case "error":
        this.error ??= { value: part.error };
    }
  }

  /** What there is room for is shown and kept, also of a piece that is too long. */
  #show({ type, id, text: whole }: StreamPart & { type: "text-delta" | "reasoning-delta" }): void {
    const { step, emit, limits } = this.#context;
    const text = whole.slice(0, limits.answerChars - this.#size);
    if (text !== "") {
      if (type === "text-delta") this.text += text;
      this.shown = true;
      emit({ type, id: `${step}-${type[0]}-${id}`, text });
    }
    this.#add(whole.length);
  }

  #file({ type, file: { base64: data, mediaType } }: StreamPart & { type: "file" | "reasoning-file" }): void {
    this.#add(data.length);
    this.shown = true;
    const of = type === "reasoning-file" ? "reasoning" : "answer";
    this.#context.emit({ type: "file-add", of, mediaType, data });
  }

  #startTool({ toolCallId: callId, toolName: name, input }: AnswerCallPart): void {
    const { emit, clock } = this.#context;
    this.shown = true;
    this.#called.set(callId, clock().getTime());
    emit({ type: "tool-start", callId, name, input: shown(input), by: "provider" });
  }

  #endTool(part: StreamPart & { type: "tool-result" | "tool-error" }): void {
    const { emit, clock } = this.#context;
    const { toolCallId: callId, toolName: name } = part;
    const now = clock().getTime();
    const isError = part.type === "tool-error";
    const output = shown(isError ? messageOf(part.error) : part.output);
    const ms = now - (this.#called.get(callId) ?? now);
    if (!isError && part.preliminary) emit({ type: "tool-progress", callId, name, output });
    else emit({ type: "tool-end", callId, name, output, isError, ms });
  }

  #add(chars: number): void {
    const { limits } = this.#context;
    this.#size += Math.max(chars, LEAST_PIECE);
    if (this.#size > limits.answerChars) throw answerTooLong(limits);
  }

  aborted(): StepOutcome {
    return { kind: "aborted", text: this.text };
  }

  failed(error: unknown): StepOutcome {
    return { kind: "failed", error, text: this.text, shown: this.shown };
  }
}

/** What a piece counts at least: the SDK keeps each until the answer has ended, however little it says. */
const LEAST_PIECE = 8;

function toolCall(part: StreamPart & { type: "tool-call" }): ToolCall {
  const { toolCallId: id, toolName: name, input } = part;
  return { id, name, input, invalid: part.invalid === true ? messageOf(part.error) : null };
}

function sourceEvent(source: LanguageModelV4Source) {
  const { id, title = null } = source;
  if (source.sourceType === "url") return { type: "source-add", id, title, url: source.url } as const;
  const { mediaType, filename = null } = source;
  return { type: "source-add", id, title, document: { mediaType, filename } } as const;
}

// What one model call may take: how long it may say nothing, and how much it may say.

export interface CallLimits {
  /** Until the first piece of an answer; null: no limit. Keep-alives of the connection don't count. */
  readonly firstMs: number | null;
  /** From one piece to the next. */
  readonly idleMs: number | null;
  /** Characters of text, reasoning and tool arguments together; a piece counts as 8 at least. */
  readonly answerChars: number;
}

/** Models that think long send nothing for minutes; no answer is as long as a small book. */
export const CALL_LIMITS: CallLimits = { firstMs: 5 * 60_000, idleMs: 2 * 60_000, answerChars: 4_000_000 };

/** Rings when a model has said nothing for too long. */
class SilenceTimer {
  readonly #limits: CallLimits;
  readonly #ring: (error: AgentError) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: CallLimits, ring: (error: AgentError) => void) {
    this.#limits = limits;
    this.#ring = ring;
    this.#start(limits.firstMs);
  }

  /** A piece of the answer has come. */
  heard(): void {
    this.stop();
    this.#start(this.#limits.idleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(ms: number | null): void {
    this.#timer = startTimer(ms, () => this.#ring(silence(ms ?? 0)));
  }
}

function silence(ms: number): AgentError {
  return new AgentError(
    "timed-out",
    `the model has sent nothing for ${ms / 1000} seconds: try again, or let it be silent for longer (limits)`,
  );
}

function answerTooLong({ answerChars }: CallLimits): AgentError {
  return new AgentError(
    "answer-too-long",
    `the model's answer is longer than ${answerChars} characters and was cut off: it may be repeating itself`,
  );
}
