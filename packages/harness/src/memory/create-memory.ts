/**
 * Memory in one call: where it is kept, who is asked what is worth remembering, the queue behind the turns, the middleware
 * that a run meets and the service by which people look and correct. It learns while the process runs; nothing has to be started.
 */
import { randomUUID } from "node:crypto";
import { generateText } from "ai";
import type { Middleware } from "../agent/middleware.ts";
import type { ModelObject } from "../agent/model.ts";
import type { Store } from "../stores/store.ts";
import { type MemoryMiddlewareOptions, memory } from "./middleware.ts";
import { storeStorage } from "./open-storage.ts";
import { createMemoryQueue, type Drained, type MemoryQueue } from "./queue.ts";
import { openRepository, type Repository } from "./repository.ts";
import { type MemoryService, memoryService } from "./service.ts";
import type { EmitMemory } from "./storage.ts";
import { type MemoryStorage, MemoryStorageError } from "./storage.ts";
import { createUpdater, type Extract } from "./updater.ts";

export interface MemoryOptions
  extends Pick<MemoryMiddlewareOptions, "injection" | "maxInjectionTokens" | "evidenceTokens"> {
  /** The agent's: it keeps what is still to be learned and, unless there is a `storage`, what was. */
  readonly store: Store;
  /** Asked what of a turn is worth remembering; a small one does. Or a function of yours. */
  readonly model: ModelObject | Extract;
  /** Where memory is kept, if not in the store: `fileStorage`, or one of your own. */
  readonly storage?: MemoryStorage;
  /** How long a conversation must be quiet before it is learned from; 30 unless given. */
  readonly debounceSeconds?: number;
  /** 100 facts, each of a confidence of 0.7 at least, unless given. */
  readonly maxFacts?: number;
  readonly factConfidenceThreshold?: number;
  /** `by-hand`: another process learns; here only `queue.start()`, `drain` and `retry` do. */
  readonly starts?: "with-the-first-job" | "by-hand";
  readonly onEvent?: EmitMemory;
  readonly clock?: () => Date;
  readonly ids?: () => string;
}

export interface Memory {
  /** For an agent's `middleware`; `createDeepAgent` takes the whole memory. */
  readonly middleware: Middleware;
  /** Looking, correcting, forgetting, by user. */
  readonly service: MemoryService;
  /** For a loop of your own: the job of a turn, and when it runs. */
  readonly queue: MemoryQueue;
  readonly repository: Repository;
  /** Learns what is still to be learned, as far as the time allows (10 s); the rest stays queued. */
  close(limitMs?: number): Promise<Drained>;
}

/** Throws a `MemoryStorageError` for a store that can't keep memory or what is to be learned. */
export function createMemory({ model, ...options }: MemoryOptions): Memory {
  const { store, storage = inStore(store) } = options;
  if (store.outbox === undefined) throw lacking("outbox, so that nothing could be learned: use SQLite or PostgreSQL");
  return wireMemory({ ...options, storage, extract: typeof model === "function" ? model : asking(model) });
}

interface Wiring extends Omit<MemoryOptions, "model"> {
  readonly storage: MemoryStorage;
  readonly extract: Extract;
}

/** With a store that has no outbox nothing is learned, which is told once as an event. */
export function wireMemory(options: Wiring): Memory {
  const { store, extract, clock = () => new Date(), ids = randomUUID, onEvent: emit = () => {} } = options;
  const { injection, maxInjectionTokens, evidenceTokens, debounceSeconds } = options;
  const { maxFacts = 100, factConfidenceThreshold = 0.7 } = options;
  const repository = openRepository(options.storage, clock);
  const updater = createUpdater({
    store,
    repository,
    clock,
    ids,
    emit,
    extract,
    settings: { maxFacts, factConfidenceThreshold },
  });
  const queue = createMemoryQueue(store, {
    process: (job, signal) => updater.process(job, signal),
    emit,
    clock,
    ...(debounceSeconds !== undefined && { debounceSeconds }),
    ...(options.starts !== undefined && { starts: options.starts }),
  });
  return {
    middleware: memory({
      repository,
      queue,
      ...(injection !== undefined && { injection }),
      ...(maxInjectionTokens !== undefined && { maxInjectionTokens }),
      ...(evidenceTokens !== undefined && { evidenceTokens }),
    }),
    service: memoryService({ repository, clock, ids }),
    queue,
    repository,
    async close(limitMs = 10_000) {
      try {
        return await queue.drain(limitMs);
      } finally {
        await queue.stop();
      }
    },
  };
}

function inStore({ memories }: Store): MemoryStorage {
  if (memories === undefined) throw lacking("place for memory: give a storage, such as fileStorage");
  return storeStorage({ memories });
}

function lacking(what: string): MemoryStorageError {
  return new MemoryStorageError("unwritable", `the store has no ${what}`);
}

/** One request, without tools or retries: the queue tries again. */
function asking(model: ModelObject): Extract {
  return async (prompt, signal) => {
    const { text } = await generateText({ model, prompt, abortSignal: signal, maxRetries: 0 });
    return text;
  };
}
