/**
 * The embedded worker: takes due jobs, carries them out under a lease that it renews, and writes down how each ended. Any
 * trouble with the file is reported and tried again at the next poll; the loop itself never ends before `stop`.
 */
import { randomUUID } from "node:crypto";
import { untilAborted } from "../../abort.ts";
import { backOffMs, type JobWorker, type WorkOptions } from "../memory-jobs.ts";
import type { ClaimedJob, JobTable } from "./jobs.ts";

export function startJobLoop(table: JobTable, options: WorkOptions): JobWorker {
  const { concurrency, leaseMs, now, pollMs, stopMs } = options;
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const abort = new AbortController();
  let wake = () => {};
  let timer: NodeJS.Timeout | undefined;

  const takeDue = async (): Promise<void> => {
    while (running.size < concurrency && !stopping.signal.aborted) {
      const owner = randomUUID();
      const claimed = await table.claim({ owner, now: now(), leaseMs, alive: [...running.keys()] });
      if (claimed === undefined) return;
      const done = carryOut(table, claimed, options, abort.signal).finally(() => {
        running.delete(owner);
        wake();
      });
      running.set(owner, done);
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const rest = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await takeDue().catch((error: unknown) => options.onEvent({ type: "worker-trouble", error: wordsOf(error) }));
      timer = setTimeout(() => wake(), pollMs);
      // A queue that waits is no reason for the process to stay.
      timer.unref();
      await rest;
      clearTimeout(timer);
    }
  };
  const looping = loop();
  return {
    wake: () => wake(),
    async stop() {
      stopping.abort();
      wake();
      await looping;
      const late = setTimeout(() => abort.abort(new Error("the queue is stopping")), stopMs);
      await Promise.all(running.values());
      clearTimeout(late);
    },
  };
}

async function carryOut(table: JobTable, claimed: ClaimedJob, options: WorkOptions, stop: AbortSignal): Promise<void> {
  const { leaseMs, now, onEvent } = options;
  const { job, owner, attempt } = claimed;
  const lost = new AbortController();
  const beat = setInterval(async () => {
    const held = await table.renew(owner, now(), leaseMs).catch(() => "unknown" as const);
    if (held === "lost") lost.abort(new Error(`the job on ${job.thread} was taken over`));
  }, leaseMs / 3);
  beat.unref();
  onEvent({ type: "job-start", job, attempt });
  const signal = AbortSignal.any([stop, lost.signal]);
  try {
    const error = await untilAborted(signal, () => options.process(job, signal)).then(
      () => null,
      (reason: unknown) => wordsOf(reason),
    );
    if (error !== null && stop.aborted) return await table.giveBack(owner);
    if (error === null) await table.finish(claimed);
    else await table.fail(claimed, error, { now: now(), runAt: now() + backOffMs(attempt) });
    onEvent(error === null ? { type: "job-end", job } : { type: "job-fail", job, attempt, error });
  } catch (error) {
    // How it ended could not be written: its lease runs out and it comes again, which does no harm.
    onEvent({ type: "worker-trouble", error: wordsOf(error) });
  } finally {
    clearInterval(beat);
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
