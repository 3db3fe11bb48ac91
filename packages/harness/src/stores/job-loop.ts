/**
 * The worker of both engines: takes due jobs, carries them out under a lease that it renews, and writes down how each
 * ended. Trouble with the store is told and tried again at the next poll. The loop ends with `stop`, or with its store;
 * nothing that it leaves behind needs it again, because a lease that is not renewed runs out.
 */
import { randomUUID } from "node:crypto";
import { errorText } from "@palimpsest/core/internal/text";
import { untilAborted } from "../long-work.ts";
import { backOffMs, type Job, type JobWorker, type WorkOptions } from "./outbox.ts";
import { StoreError } from "./store-error.ts";

/** What the loop does with an engine's rows. */
export interface JobTable {
  claim(claim: Claim): Promise<ClaimedJob | undefined>;
  renew(claimed: ClaimedJob, leaseMs: number): Promise<"renewed" | "lost">;
  finish(claimed: ClaimedJob): Promise<void>;
  fail(claimed: ClaimedJob, error: string, pauseMs: number): Promise<void>;
  /** As if it hadn't been taken. */
  giveBack(claimed: ClaimedJob): Promise<void>;
}

export interface Claim {
  readonly queue: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** Claims that this process knows to be alive, whatever the clock says. */
  readonly alive: readonly string[];
}

export interface ClaimedJob {
  readonly job: Job;
  readonly attempt: number;
  /** Names this claim and no other. */
  readonly owner: string;
  /** An append that came while the job ran has raised the row's own: the row stays when the job ends. */
  readonly revision: number;
}

export function startJobLoop(table: JobTable, options: WorkOptions): JobWorker {
  const { queue, concurrency, leaseMs, pollMs, stopMs } = options;
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const abort = new AbortController();
  let wake = () => {};

  const takeDue = async (): Promise<void> => {
    while (running.size < concurrency && !stopping.signal.aborted) {
      const owner = randomUUID();
      const claimed = await table.claim({ queue, owner, leaseMs, alive: [...running.keys()] });
      if (claimed === undefined) return;
      if (stopping.signal.aborted) return table.giveBack(claimed);
      const done = carryOut(table, claimed, options, abort.signal).finally(() => {
        running.delete(owner);
        wake();
      });
      running.set(owner, done);
    }
  };
  const trouble = (error: unknown): void => {
    if (error instanceof StoreError && error.code === "closed") stopping.abort();
    else options.onEvent({ type: "worker-trouble", error: errorText(error) });
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await takeDue().catch(trouble);
      // A queue that waits is no reason for the process to stay.
      const timer = setTimeout(() => wake(), pollMs).unref();
      if (!stopping.signal.aborted) await woken;
      clearTimeout(timer);
    }
  };
  const looping = loop();
  return {
    wake: () => wake(),
    async stop() {
      stopping.abort();
      wake();
      const late = setTimeout(() => abort.abort(new Error("the queue is stopping")), stopMs);
      const ended = looping.then(() => Promise.all(running.values()));
      // A store that doesn't answer can't be told: the jobs are taken over when their leases have run out.
      let given: NodeJS.Timeout | undefined;
      const patience = new Promise((resolve) => {
        given = setTimeout(resolve, stopMs + 1000);
      });
      await Promise.race([ended, patience]);
      for (const timer of [late, given]) clearTimeout(timer);
    },
  };
}

async function carryOut(table: JobTable, claimed: ClaimedJob, options: WorkOptions, stop: AbortSignal): Promise<void> {
  const { leaseMs, onEvent } = options;
  const { job, attempt } = claimed;
  const lost = new AbortController();
  const beat = setInterval(async () => {
    const renewal = await table.renew(claimed, leaseMs).catch(() => "unknown" as const);
    if (renewal === "lost") lost.abort(new Error(`the job on ${job.threadId} was taken over`));
  }, leaseMs / 3).unref();
  onEvent({ type: "job-start", job, attempt });
  const signal = AbortSignal.any([stop, lost.signal]);
  try {
    const error = await untilAborted(signal, () => options.process(job, signal)).then(
      () => null,
      (reason: unknown) => errorText(reason),
    );
    if (error !== null && stop.aborted) return await table.giveBack(claimed);
    if (error === null) await table.finish(claimed);
    else await table.fail(claimed, error, backOffMs(attempt));
    onEvent(error === null ? { type: "job-end", job } : { type: "job-fail", job, attempt, error });
  } catch (error) {
    // How it ended could not be written: its lease runs out and it comes again, which does no harm.
    onEvent({ type: "worker-trouble", error: errorText(error) });
  } finally {
    clearInterval(beat);
  }
}
