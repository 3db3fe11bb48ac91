/** Runs the lab in a worker thread, so that other requests don't wait for it. One run at a time; the next one queues. */
import { Worker } from "node:worker_threads";
import type { LabAnswer, LabProgress, LabRequest } from "./play.ts";

let turn: Promise<unknown> = Promise.resolve();

export interface PlayApartOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: LabProgress) => void;
}

export function playApart(request: LabRequest, options: PlayApartOptions): Promise<LabAnswer> {
  const answer = turn.then(() => play(request, options));
  turn = answer.catch(() => {});
  return answer;
}

async function play(request: LabRequest, { signal, onProgress = () => {} }: PlayApartOptions): Promise<LabAnswer> {
  signal.throwIfAborted();
  const options = { workerData: request, resourceLimits: { maxOldGenerationSizeMb: 1024 } };
  // The ending is said in a variable, so that a bundler takes the built file along.
  const source = "./lab-worker.ts";
  const worker = SOURCES
    ? new Worker(new URL(source, import.meta.url), options)
    : new Worker(new URL("./lab-worker.js", import.meta.url), options);
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop);
  try {
    return await new Promise<LabAnswer>((resolve, reject) => {
      worker.on("message", (message: LabAnswer | LabProgress) => {
        if ("kind" in message) resolve(message);
        else onProgress(message);
      });
      worker.once("error", reject);
      worker.once("exit", () => reject(signal.aborted ? signal.reason : new Error("the lab ended without an answer")));
    });
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

const SOURCES = import.meta.url.endsWith(".ts");
