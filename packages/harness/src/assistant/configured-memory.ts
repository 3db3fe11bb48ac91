/**
 * The memory that a home and its configuration describe, wired: storage, updater with its model, queue, and the
 * middleware that a run meets. The one place that names them all.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { generateText } from "ai";
import type { Middleware } from "../agent/middleware.ts";
import type { ConfigFile } from "../config/schema.ts";
import type { EmitMemory } from "../memory/events.ts";
import type { MemoryJob } from "../memory/job.ts";
import { memory } from "../memory/middleware.ts";
import { openStorage } from "../memory/open-storage.ts";
import { createMemoryQueue, type Drained, type MemoryQueue } from "../memory/queue.ts";
import { openRepository, type Repository } from "../memory/repository.ts";
import { createUpdater, type Extract } from "../memory/updater.ts";
import { readUsage } from "../models/read-usage.ts";
import { lightweightModel } from "../models/resolve-model.ts";
import type { Usage } from "../models/usage.ts";
import type { Store } from "../stores/store.ts";
import { noteCharge } from "./charges.ts";

export interface ConfiguredMemoryOptions {
  readonly home: string;
  readonly config: ConfigFile;
  readonly store: Store;
  readonly emit: EmitMemory;
}

export interface ConfiguredMemory {
  readonly middleware: Middleware;
  readonly repository: Repository;
  readonly queue: MemoryQueue;
  /** Learns what is still to be learned, as far as the time allows; the rest stays queued. */
  close(limitMs: number): Promise<Drained>;
}

/** Null where memory is turned off. */
export async function configuredMemory(options: ConfiguredMemoryOptions): Promise<ConfiguredMemory | null> {
  const { home, config, store, emit } = options;
  const settings = config.memory;
  if (!settings.enabled) return null;
  const clock = () => new Date();
  const storage = await openStorage({
    base: home,
    storagePath: settings.storage_path,
    storageClass: settings.storage_class,
    store,
    onError: (reason) => emit({ type: "memory-failed", threadId: null, reason }),
  });
  const repository = openRepository(storage, clock);
  const learning = new AsyncLocalStorage<MemoryJob>();
  const updater = createUpdater({
    store,
    repository,
    clock,
    ids: randomUUID,
    emit,
    extract: extractWith(config, (model, usage) => {
      const job = learning.getStore();
      if (job === undefined) return;
      const charge = { use: "memory" as const, model, calls: 1, ...usage };
      noteCharge(home, { user: job.userId, id: job.threadId }, charge);
    }),
    settings: { maxFacts: settings.max_facts, factConfidenceThreshold: settings.fact_confidence_threshold },
  });
  const queue = createMemoryQueue(store, {
    process: (job, signal) => learning.run(job, () => updater.process(job, signal)),
    emit,
    debounceSeconds: settings.debounce_seconds,
  });
  const middleware = memory({
    repository,
    queue,
    injection: settings.injection_enabled ? "on" : "off",
    maxInjectionTokens: settings.max_injection_tokens,
    evidenceTokens: settings.evidence_tokens,
  });
  return {
    middleware,
    repository,
    queue,
    async close(limitMs) {
      try {
        return await queue.drain(limitMs);
      } finally {
        await queue.stop();
      }
    },
  };
}

/** One request, without tools or retries: the queue tries again. */
function extractWith(config: ConfigFile, onUsage: (modelId: string, usage: Usage) => void): Extract {
  return async (prompt, signal) => {
    const { language, provider, modelId } = await lightweightModel(config, config.memory.model_name);
    if (provider === "offline") return askDirectly(language, prompt, signal);
    const { text, usage } = await generateText({ model: language, prompt, abortSignal: signal, maxRetries: 0 });
    const report = readUsage(usage);
    if (report !== null) onUsage(modelId, report);
    return text;
  };
}

/** The SDK's call loads Node's whole network stack, which costs a short run a tenth of its time for nothing. */
async function askDirectly(model: LanguageModelV4, prompt: string, abortSignal: AbortSignal): Promise<string> {
  const asked = [{ role: "user" as const, content: [{ type: "text" as const, text: prompt }] }];
  const { content } = await model.doGenerate({ prompt: asked, abortSignal });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
