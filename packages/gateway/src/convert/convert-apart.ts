/**
 * Conversion in a thread of its own, so that no file can keep the others waiting: it is stopped when it has taken its time
 * or memory, or when nobody waits for it any more. A few at once, one of each user; the others wait for their turn.
 */
import { Worker } from "node:worker_threads";
import { endingOf } from "./endings.ts";
import { type FairGate, fairGate } from "./fair-gate.ts";
import type { Conversion } from "./to-markdown.ts";

export interface ConvertOptions {
  /** Whose turn it takes. */
  readonly userId: string;
  readonly signal: AbortSignal;
  readonly limits?: ConvertLimits;
}

export interface ConvertLimits {
  /** For one file. */
  readonly fileMs: number;
  /** For all files of one request. */
  readonly requestMs: number;
  readonly heapMegabytes: number;
}

const LIMITS: ConvertLimits = { fileMs: 30_000, requestMs: 120_000, heapMegabytes: 512 };

interface NamedBytes {
  readonly name: string;
  readonly bytes: Buffer;
}

const gate: FairGate = fairGate({ most: 2, mostPerUser: 1 });

/** One result for each file, in their order. */
export async function convertApart(
  files: readonly NamedBytes[],
  { userId, signal, limits = LIMITS }: ConvertOptions,
): Promise<readonly Conversion[]> {
  if (files.every(({ name }) => endingOf(name) === null)) return files.map(() => AS_IS);
  const leave = await gate.enter(userId, signal);
  let thread: ConvertThread | null = null;
  try {
    const results: Conversion[] = [];
    const end = performance.now() + limits.requestMs;
    for (const file of files) {
      signal.throwIfAborted();
      if (endingOf(file.name) === null) {
        results.push(AS_IS);
        continue;
      }
      thread ??= new ConvertThread(limits.heapMegabytes);
      const result = await thread.convert(file, Math.min(limits.fileMs, end - performance.now()), signal);
      results.push(result);
      if (result.kind !== "failed" || result.code !== "too-costly") continue;
      await thread.stop();
      thread = null;
    }
    return results;
  } finally {
    await thread?.stop();
    leave();
  }
}

const AS_IS: Conversion = { kind: "as-is" };

class ConvertThread {
  readonly #worker: Worker;

  constructor(heapMegabytes: number) {
    const options = {
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, stackSizeMb: 16 },
    };
    // The ending is said in a variable, so that a bundler takes the built file along.
    const source = "./convert-worker.ts";
    this.#worker = SOURCES
      ? new Worker(new URL(source, import.meta.url), options)
      : new Worker(new URL("./convert-worker.js", import.meta.url), options);
    // What libraries print about a file is nobody's.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
  }

  /** Rejects when the signal aborts; the thread has to be stopped then, and after a file that was too costly. */
  async convert({ name, bytes }: NamedBytes, ms: number, signal: AbortSignal): Promise<Conversion> {
    const { promise, resolve, reject } = Promise.withResolvers<Conversion>();
    const worker = this.#worker;
    const failed = (error: unknown) => resolve(isOutOfMemory(error) ? tooCostly("memory") : failedWith(error));
    const left = () => reject(signal.reason);
    const timer = setTimeout(() => resolve(tooCostly("time")), Math.max(0, ms));
    worker.once("message", resolve);
    worker.once("error", failed);
    signal.addEventListener("abort", left);
    try {
      worker.postMessage({ name, bytes });
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", left);
      worker.off("message", resolve);
      worker.off("error", failed);
      // An error of a thread that is about to be stopped is nobody's.
      worker.on("error", () => {});
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

function tooCostly(what: "time" | "memory"): Conversion {
  return { kind: "failed", code: "too-costly", problem: `converting it takes more ${what} than a file may take here` };
}

/** The thread ended for another reason: it is treated like a file that is too much for it. */
function failedWith(error: unknown): Conversion {
  return { kind: "failed", code: "too-costly", problem: `converting it failed: ${String(error).slice(0, 200)}` };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
}

const SOURCES = import.meta.url.endsWith(".ts");
