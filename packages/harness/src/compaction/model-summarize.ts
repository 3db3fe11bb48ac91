/**
 * A summarizer from a language model of the AI SDK. One call is one request: no retries, no tools run, nothing streamed,
 * so that none of it reaches the user [F8]. Structured output is asked for where it works; a provider that refuses the
 * schema is asked without it from then on, since the answer is read leniently anyway.
 */
import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import {
  generateText,
  jsonSchema,
  type LanguageModelMiddleware,
  type LanguageModelUsage,
  type ModelMessage,
  NoObjectGeneratedError,
  Output,
  type ToolSet,
  wrapLanguageModel,
} from "ai";
import type { ConfigFile } from "../home/schema.ts";
import { retryAfterMs, worthAnotherTry } from "../models/call-error.ts";
import type { Usage } from "../models/facts.ts";
import { lightweightModel } from "../models/resolve.ts";
import { type QuietCall, structuredOutputs, withoutExecute, withoutThinking } from "../models/wrap.ts";
import type { Store } from "../stores/store.ts";
import { draftTable } from "./drafts.ts";
import { createModelWriter } from "./model-writer.ts";
import type { Summarization } from "./summarization.ts";
import {
  type Summarize,
  SummarizeError,
  type SummaryAnswer,
  type SummaryRequest,
  type SummaryWriter,
} from "./summarize.ts";

export interface ModelSummarizeOptions {
  /** As for the model's other calls. What they say about thinking is left out: a summary needs none. */
  readonly providerOptions?: QuietCall["providerOptions"];
  /** `never`: the provider is known to have none. */
  readonly structuredOutput?: "where-it-works" | "never";
}

export function modelSummarize(model: LanguageModelV4, options: ModelSummarizeOptions = {}): Summarize {
  let structured = (options.structuredOutput ?? "where-it-works") === "where-it-works";
  let quiet = withoutThinking(model, options.providerOptions);
  const askQuietly = async (request: SummaryRequest, signal: AbortSignal): Promise<SummaryAnswer> => {
    try {
      return await ask(model, request, { ...quiet, signal });
    } catch (error) {
      if (quiet.reasoning === undefined || !refusesQuiet(error)) throw error;
      // A model that can't do without thinking may think.
      const { reasoning: _, ...rest } = quiet;
      quiet = rest;
      return ask(model, request, { ...quiet, signal });
    }
  };
  return async (request, signal) => {
    const schema = structured ? request.schema : null;
    try {
      return await askQuietly({ ...request, schema }, signal);
    } catch (error) {
      if (schema === null || !refusesSchema(error)) throw asSummarizeError(error);
      structured = false;
    }
    try {
      return await askQuietly({ ...request, schema: null }, signal);
    } catch (error) {
      // Both ways were refused, so the schema was not what it minded.
      if (refusesSchema(error)) structured = true;
      throw asSummarizeError(error);
    }
  };
}

async function ask(
  model: LanguageModelV4,
  { system, prompt, prefix, schema, maxOutputTokens }: SummaryRequest,
  { signal, ...quiet }: QuietCall & { readonly signal: AbortSignal },
): Promise<SummaryAnswer> {
  const instructions = prefix === null ? system : prefix.instructions;
  const before = (prefix?.messages ?? []) as readonly ModelMessage[];
  const output = schema === null ? {} : { output: outputFor(model, schema) };
  try {
    const result = await generateText({
      model: quiet.reasoning === undefined ? model : unwarned(model),
      ...(instructions === "" ? {} : { instructions }),
      messages: [...before, { role: "user", content: prompt }],
      ...(prefix === null ? {} : { tools: withoutExecute(prefix.tools as ToolSet) }),
      ...quiet,
      ...output,
      maxOutputTokens,
      maxRetries: 0,
      abortSignal: signal,
    });
    return { text: result.text, finish: finishOf(result.finishReason), usage: usageOf(result.usage) };
  } catch (error) {
    // Not the schema to the letter, but perhaps good enough: the caller reads it leniently.
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    const usage = error.usage === undefined ? {} : { usage: usageOf(error.usage) };
    return { text: error.text ?? "", finish: finishOf(error.finishReason), ...usage };
  }
}

/** Some models can only think less. That is as good, and nothing to tell the user at every summary. */
function unwarned(model: LanguageModelV4): LanguageModelV4 {
  const wrapGenerate: LanguageModelMiddleware["wrapGenerate"] = async ({ doGenerate }) => {
    const result = await doGenerate();
    return { ...result, warnings: result.warnings.filter((one) => !("feature" in one && one.feature === "reasoning")) };
  };
  return wrapLanguageModel({ model, middleware: { specificationVersion: "v4", wrapGenerate } });
}

/** A model that knows no schemas is asked for JSON of any form; the prompt says which. */
function outputFor(model: LanguageModelV4, schema: object) {
  if (structuredOutputs(model) === false) return Output.json();
  return Output.object({ schema: jsonSchema(strict(schema) as object) });
}

function finishOf(reason: string | undefined): SummaryAnswer["finish"] {
  return reason === "stop" || reason === "length" ? reason : "other";
}

function usageOf({ inputTokens, outputTokens, inputTokenDetails }: LanguageModelUsage): Usage {
  return {
    input: inputTokens ?? 0,
    output: outputTokens ?? 0,
    cacheRead: inputTokenDetails?.cacheReadTokens ?? 0,
    cacheWrite: inputTokenDetails?.cacheWriteTokens ?? 0,
  };
}

/** Every key required and no others: what the strictest providers ask of a schema. Empty lists and texts stand for nothing. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  const { properties } = copy;
  if (copy["type"] !== "object" || typeof properties !== "object" || properties === null) return copy;
  return { ...copy, required: Object.keys(properties), additionalProperties: false };
}

function refusesSchema(error: unknown): boolean {
  return APICallError.isInstance(error) && [400, 404, 415, 422, 501].includes(error.statusCode ?? 0);
}

function refusesQuiet(error: unknown): boolean {
  if (!APICallError.isInstance(error) || !refusesSchema(error)) return false;
  return /reasoning|thinking|effort/i.test(`${error.message} ${error.responseBody ?? ""}`);
}

const USUAL_PAUSE_MS = 1000;

function asSummarizeError(error: unknown): unknown {
  if (!APICallError.isInstance(error)) return error;
  const retry = worthAnotherTry(error) ? "now" : "never";
  const status = error.statusCode === undefined ? "" : `${error.statusCode} `;
  const afterMs = retry === "never" ? 0 : (retryAfterMs(error, Date.now()) ?? USUAL_PAUSE_MS);
  return new SummarizeError(`${status}${error.message}`, { retry, afterMs, cause: error });
}

// The summary writer a configuration asks for: its summarization model, or none where only the offline model is
// there, since the extract does the same without it. The model is made at the first summary; one that can't be made
// (no key, an unknown provider) is a failed summary like any other, so the extract stands in and an event says why.

export function configuredWriter(config: ConfigFile, settings: Summarization, place: DraftPlace): SummaryWriter | null {
  return config.models.every(({ provider }) => provider === "offline") ? null : modelWriter(config, settings, place);
}

/** Where finished parts are kept, for a caller whose jobs don't bring that along. */
interface DraftPlace {
  readonly store: Store;
  readonly threadId: string;
}

export function modelWriter(config: ConfigFile, settings: Summarization, place?: DraftPlace): SummaryWriter {
  return async (job, signal) => {
    const model = await lightweightModel(config, settings.modelName);
    const write = createModelWriter({
      summarize: modelSummarize(model.language),
      window: model.window.tokens,
      reservedOutputTokens: settings.reservedOutputTokens,
      trimTokensToSummarize: settings.trimTokensToSummarize,
      maxSummarizerCalls: settings.maxSummarizerCalls,
      summaryPrompt: settings.summaryPrompt,
      ...(place !== undefined && { drafts: draftTable(place.store.drafts, place.threadId, () => new Date()) }),
    });
    return write(job, signal);
  };
}
