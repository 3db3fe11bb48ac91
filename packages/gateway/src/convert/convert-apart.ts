/**
 * Conversion in a process of its own, so that no file can keep the others waiting or end them: it is stopped when it has
 * taken its time or memory, or when its client has left. Not a thread: one that runs out of memory may end the whole
 * process. A few at once, one of each user; the others wait for their turn.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { endingOf } from "./formats.ts";
import type { Conversion } from "./to-markdown.ts";

interface ConvertOptions {
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
  let converter: ConvertProcess | null = null;
  try {
    const results: Conversion[] = [];
    const end = performance.now() + limits.requestMs;
    for (const file of files) {
      signal.throwIfAborted();
      if (endingOf(file.name) === null) {
        results.push(AS_IS);
        continue;
      }
      converter ??= new ConvertProcess(limits.heapMegabytes);
      const result = await converter.convert(file, Math.min(limits.fileMs, end - performance.now()), signal);
      results.push(result);
      if (result.kind !== "failed" || result.code !== "too-costly") continue;
      converter.stop();
      converter = null;
    }
    return results;
  } finally {
    converter?.stop();
    leave();
  }
}

const AS_IS: Conversion = { kind: "as-is" };

class ConvertProcess {
  readonly #child: ChildProcess;

  constructor(heapMegabytes: number) {
    // The ending is said in a variable, so that a bundler takes the built file along.
    const source = "./convert-worker.ts";
    const program = SOURCES ? new URL(source, import.meta.url) : new URL("./convert-worker.js", import.meta.url);
    const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
    this.#child = fork(fileURLToPath(program), [], {
      execArgv: [...conditions, `--max-old-space-size=${heapMegabytes}`, "--disable-warning=ExperimentalWarning"],
      env: {},
      serialization: "advanced",
      // What libraries print about a file is dropped.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    // Without a listener, the error of a process that is about to be stopped would end this one.
    this.#child.on("error", () => {});
  }

  /** Rejects when the signal aborts; the process has to be stopped then, and after a file that was too costly. */
  async convert({ name, bytes }: NamedBytes, ms: number, signal: AbortSignal): Promise<Conversion> {
    const { promise, resolve, reject } = Promise.withResolvers<Conversion>();
    const child = this.#child;
    const ended = (code: number | null, by: NodeJS.Signals | null) =>
      resolve(by === "SIGABRT" || code === OUT_OF_MEMORY ? tooCostly("memory") : failedWith(by ?? code));
    const failed = (error: Error) => resolve(failedWith(error));
    const left = () => reject(signal.reason);
    const timer = setTimeout(() => resolve(tooCostly("time")), Math.max(0, ms));
    const answered = (answer: Conversion) => resolve(answer);
    child.once("message", answered);
    child.once("exit", ended);
    child.once("error", failed);
    signal.addEventListener("abort", left);
    try {
      child.send({ name, bytes }, (error) => error !== null && failed(error));
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", left);
      child.off("message", answered);
      child.off("exit", ended);
      child.off("error", failed);
    }
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }
}

/** How Node ends when its heap is full, where the system has no signal for it. */
const OUT_OF_MEMORY = 134;

function tooCostly(what: "time" | "memory"): Conversion {
  return { kind: "failed", code: "too-costly", problem: `converting it takes more ${what} than a file may take here` };
}

/** The process ended for another reason: it is treated like a file that is too much for it. */
function failedWith(reason: unknown): Conversion {
  return { kind: "failed", code: "too-costly", problem: `converting it failed: ${String(reason).slice(0, 200)}` };
}

const SOURCES = import.meta.url.endsWith(".ts");

/* Lets so many in at a time, and so many of each user; the others wait in the order they came. */

interface FairGate {
  /** Resolves to the function that leaves again. Rejects if the signal aborts while it waits. */
  enter(userId: string, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly userId: string;
  readonly admit: () => void;
}

export function fairGate({ most, mostPerUser }: { readonly most: number; readonly mostPerUser: number }): FairGate {
  const inside: string[] = [];
  let waiting: readonly Waiting[] = [];
  const next = (): void => {
    while (inside.length < most) {
      const first = waiting.find(({ userId }) => inside.filter((one) => one === userId).length < mostPerUser);
      if (first === undefined) return;
      waiting = waiting.filter((one) => one !== first);
      inside.push(first.userId);
      first.admit();
    }
  };
  return {
    enter(userId, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const leave = once(() => {
          inside.splice(inside.indexOf(userId), 1);
          next();
        });
        const giveUp = () => {
          waiting = waiting.filter((one) => one !== place);
          reject(signal.reason);
        };
        const place = {
          userId,
          admit: () => {
            signal.removeEventListener("abort", giveUp);
            resolve(leave);
          },
        };
        waiting = [...waiting, place];
        signal.addEventListener("abort", giveUp, { once: true });
        next();
      });
    },
  };
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
