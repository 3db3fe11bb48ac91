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
import { hideSecrets } from "./hide-secrets.ts";

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
export function builtInReasoning(model: object): BuiltIn["reasoning"] {
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
