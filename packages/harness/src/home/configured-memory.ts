/** The memory that a home and its configuration describe: its storage, its model and its settings, wired. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { generateText } from "ai";
import { type Memory, wireMemory } from "../memory/create-memory.ts";
import type { EmitMemory } from "../memory/events.ts";
import { openStorage } from "../memory/open-storage.ts";
import { givenBlockTokens } from "../memory/stable-lane.ts";
import type { Extract } from "../memory/updater.ts";
import { readUsage } from "../models/read-usage.ts";
import { lightweightModel } from "../models/resolve-model.ts";
import type { Store } from "../stores/store.ts";
import { noteCharge } from "./charges.ts";
import type { ConfigFile } from "./schema.ts";

export interface ConfiguredMemoryOptions {
  readonly home: string;
  readonly config: ConfigFile;
  readonly store: Store;
  readonly emit: EmitMemory;
  readonly learns?: "here" | "elsewhere";
}

/** Null where memory is turned off. */
export async function configuredMemory(options: ConfiguredMemoryOptions): Promise<Memory | null> {
  const { home, config, store, emit } = options;
  const settings = config.memory;
  if (!settings.enabled) return null;
  const storage = await openStorage({
    base: home,
    storagePath: settings.storage_path,
    storageClass: settings.storage_class,
    store,
    onError: (reason) => emit({ type: "memory-failed", threadId: null, reason }),
  });
  return wireMemory({
    store,
    storage,
    extract: extractWith(config, home),
    onEvent: emit,
    debounceSeconds: settings.debounce_seconds,
    maxFacts: settings.max_facts,
    factConfidenceThreshold: settings.fact_confidence_threshold,
    injection: settings.injection_enabled ? "on" : "off",
    maxInjectionTokens: givenBlockTokens(settings.max_injection_tokens),
    evidenceTokens: settings.evidence_tokens,
    ...(options.learns === "elsewhere" && { starts: "by-hand" as const }),
  });
}

/** One request, without tools or retries: the queue tries again. */
function extractWith(config: ConfigFile, home: string): Extract {
  return async (prompt, signal, { userId: user, threadId: id }) => {
    const { language, provider, modelId: model } = await lightweightModel(config, config.memory.model_name);
    if (provider === "offline") return askDirectly(language, prompt, signal);
    const { text, usage } = await generateText({ model: language, prompt, abortSignal: signal, maxRetries: 0 });
    const report = readUsage(usage);
    if (report !== null) noteCharge(home, { user, id }, { use: "memory", model, calls: 1, ...report });
    return text;
  };
}

/** The SDK's call loads Node's whole network stack, which costs a short run a tenth of its time for nothing. */
async function askDirectly(model: LanguageModelV4, prompt: string, abortSignal: AbortSignal): Promise<string> {
  const asked = [{ role: "user" as const, content: [{ type: "text" as const, text: prompt }] }];
  const { content } = await model.doGenerate({ prompt: asked, abortSignal });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
