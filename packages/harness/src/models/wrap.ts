/**
 * A model with its settings built in, so that no caller can forget them, and with its secrets kept out of its errors.
 * What a call says itself comes first.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { ToolSet } from "ai";
import { directFetch } from "../direct-fetch.ts";

export interface BuiltIn {
  readonly providerOptions?: SharedV4ProviderOptions;
  readonly maxOutputTokens?: number;
  readonly reasoning?: NonNullable<LanguageModelV4CallOptions["reasoning"]>;
}

/** Says what was built in, and what the model itself says about structured output. */
interface ConfiguredModel extends LanguageModelV4 {
  readonly reasoning: BuiltIn["reasoning"];
  readonly supportsStructuredOutputs: boolean | undefined;
}

export function withSettings(model: LanguageModelV4, builtIn: BuiltIn, secrets: readonly string[]): ConfiguredModel {
  const safely = async <T>(call: () => PromiseLike<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw hideSecrets(error, secrets);
    }
  };
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    reasoning: builtIn.reasoning,
    supportsStructuredOutputs: structuredOutputs(model),
    get supportedUrls() {
      return model.supportedUrls;
    },
    doGenerate: (options) => safely(() => model.doGenerate(merged(options, builtIn))),
    async doStream(options) {
      const result = await safely(() => model.doStream(merged(options, builtIn)));
      return { ...result, stream: secrets.length === 0 ? result.stream : clean(result.stream, secrets) };
    },
  };
}

/** How much a model of ours thinks unless a call says otherwise; undefined for any other model. */
function builtInReasoning(model: object): BuiltIn["reasoning"] {
  return (model as Partial<ConfiguredModel>).reasoning;
}

/** Undefined where the model doesn't say. Models that take no schema drop it and warn at every call. */
export function structuredOutputs(model: object): boolean | undefined {
  return (model as Partial<ConfiguredModel>).supportsStructuredOutputs;
}

function merged(options: LanguageModelV4CallOptions, builtIn: BuiltIn): LanguageModelV4CallOptions {
  const { maxOutputTokens = builtIn.maxOutputTokens, reasoning = builtIn.reasoning } = options;
  const callOptions = options.providerOptions ?? {};
  const providerOptions = { ...callOptions };
  for (const [name, own] of Object.entries(builtIn.providerOptions ?? {})) {
    providerOptions[name] = { ...own, ...callOptions[name] };
  }
  return {
    ...options,
    providerOptions,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

function clean(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  secrets: readonly string[],
): ReadableStream<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else
          controller.enqueue(
            value.type === "error" ? { type: "error", error: hideSecrets(value.error, secrets) } : value,
          );
      } catch (error) {
        controller.error(hideSecrets(error, secrets));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/* Tools as the model sees them. The SDK must not run them: the answer that asks for a tool is stored before the tool runs. */

export function withoutExecute(tools: ToolSet): ToolSet {
  const bare = Object.entries(tools).map(([name, { execute: _, needsApproval: __, ...tool }]) => [name, tool]);
  return Object.fromEntries(bare) as ToolSet;
}

/*
 * A call's settings with thinking turned off, for calls that need none, such as summaries. A model that wasn't told to
 * think is told nothing: many refuse a word about it, or warn.
 */

export interface QuietCall {
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Set when the model would think otherwise. */
  readonly reasoning?: "none";
}

/** `given` are the provider options of the calls that may think. */
export function withoutThinking(model: object, callOptions: SharedV4ProviderOptions | undefined): QuietCall {
  const quiet: SharedV4ProviderOptions = {};
  let thinks = (builtInReasoning(model) ?? "none") !== "none";
  for (const [provider, options] of Object.entries(callOptions ?? {})) {
    const others = Object.entries(options).filter(([key]) => !THINKING.has(key));
    thinks ||= others.length < Object.keys(options).length;
    quiet[provider] = Object.fromEntries(others);
  }
  return {
    ...(callOptions !== undefined && { providerOptions: quiet }),
    ...(thinks && { reasoning: "none" as const }),
  };
}

/** What the providers call it: OpenAI, Anthropic, Google, OpenRouter and its like. */
const THINKING: ReadonlySet<string> = new Set([
  "reasoningEffort",
  "reasoningSummary",
  "reasoningMode",
  "thinking",
  "effort",
  "thinkingConfig",
  "reasoning",
]);

/*
 * A `fetch` for model calls whose answers can't fill the memory: a line of an event stream is kept whole until it ends,
 * and any other body until it is complete, so both have a limit. How long a whole stream may be is the caller's business.
 * Redirects are not followed.
 */

/** Far above a generated image in one event, and above any answer that isn't streamed. */
const LIMITS = { lineBytes: 32 << 20, bodyBytes: 64 << 20 };

export class ResponseTooLarge extends PalimpsestError<"answer-too-long"> {
  static override readonly kind = "ResponseTooLarge";

  constructor(message: string) {
    super("answer-too-long", message);
  }
}

type ModelFetch = typeof globalThis.fetch;

export function boundedFetch(inner: ModelFetch | undefined, limits = LIMITS): ModelFetch {
  const ask = directFetch(inner);
  return async (input, init) => {
    const response = await ask(input, init);
    if (response.body === null) return response;
    const isStream = /event-stream|ndjson/.test(response.headers.get("content-type") ?? "");
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(isStream ? boundLines(limits.lineBytes) : boundBody(limits.bodyBytes));
    return new Response(body, { status, statusText, headers });
  };
}

function boundLines(most: number): TransformStream<Uint8Array, Uint8Array> {
  let line = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const first = chunk.indexOf(NEWLINE);
      line += first < 0 ? chunk.length : first;
      if (line > most) return controller.error(tooLarge("a line", most));
      if (first >= 0) line = chunk.length - 1 - chunk.lastIndexOf(NEWLINE);
      controller.enqueue(chunk);
    },
  });
}

const NEWLINE = 10;

function boundBody(most: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > most) controller.error(tooLarge("an answer", most));
      else controller.enqueue(chunk);
    },
  });
}

function tooLarge(what: string, bytes: number): ResponseTooLarge {
  return new ResponseTooLarge(`the provider sent ${what} of more than ${bytes} bytes: it was not read any further`);
}

/**
 * Takes secrets out of errors before anyone can log them. Providers repeat keys in their messages, and a URL may hold a
 * password; the SDK's errors carry both, with bodies and causes. The error itself stays, so that its class is known.
 */
const HIDDEN = "[hidden]";

/** Shorter ones would be found in ordinary text, and are no secrets. */
const SHORTEST = 6;

export function secretsOf(model: {
  readonly api_key?: string | undefined;
  readonly base_url?: string | undefined;
}): readonly string[] {
  const { username = "", password = "" } = model.base_url === undefined ? {} : (URL.parse(model.base_url) ?? {});
  return [model.api_key ?? "", password, username].filter((secret) => secret.length >= SHORTEST);
}

export function hideSecrets(error: unknown, secrets: readonly string[]): unknown {
  return secrets.length === 0 ? error : hide(error, secrets, new Set());
}

/** Errors are changed in place; what they hold may belong to the caller, so of that a clean copy is put in. */
function hide(value: unknown, secrets: readonly string[], seen: Set<object>): unknown {
  if (typeof value === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, () => HIDDEN), value);
  if (typeof value !== "object" || value === null || seen.has(value)) return value;
  seen.add(value);
  if (value instanceof Error) return hideIn(value, secrets, seen);
  if (Array.isArray(value)) {
    const clean = value.map((item) => hide(item, secrets, seen));
    return clean.some((item, index) => item !== value[index]) ? clean : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const entries = Object.entries(value);
  const clean = entries.map(([key, item]) => [key, hide(item, secrets, seen)] as const);
  return clean.some(([, item], index) => item !== entries[index]![1]) ? Object.fromEntries(clean) : value;
}

function hideIn(error: Error, secrets: readonly string[], seen: Set<object>): Error {
  for (const key of Object.getOwnPropertyNames(error)) {
    const property = Object.getOwnPropertyDescriptor(error, key);
    if (property === undefined || !("value" in property)) continue;
    const clean = hide(property.value, secrets, seen);
    if (clean !== property.value && (property.writable || property.configurable)) {
      Object.defineProperty(error, key, { ...property, value: clean });
    }
  }
  return error;
}
