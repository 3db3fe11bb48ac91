/**
 * One attempt of one model call, read to its end, whose tools nobody runs here. Whatever happens
 * comes back as a value: answered, failed or aborted, with the text that was shown until then. Writes nothing.
 */
import type { AiSdkMessage } from "@palimpsest/core/message";
import { type ModelMessage, wrapLanguageModel } from "ai";
import { scoped } from "../abort.ts";
import { withoutExecute } from "../models/without-execute.ts";
import { isOverflowFinish } from "../thread/overflow.ts";
import { markedInstructions, markedMessages } from "./cache-marks.ts";
import { type CallLimits, SilenceTimer } from "./call-limits.ts";
import { AgentError } from "./errors.ts";
import type { Emit, StepUsage } from "./events.ts";
import type { ModelRequest } from "./fixed-part.ts";
import type { ModelObject, ModelSettings } from "./model.ts";
import { openModelStream } from "./model-stream.ts";
import type { ResponseFormat } from "./output/output.ts";
import { Seen, type StreamPart } from "./seen.ts";
import type { ToolCall } from "./tools.ts";

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

export interface StepContext {
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
    // Stopped meanwhile: nobody listens any more.
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
