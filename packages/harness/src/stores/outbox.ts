/**
 * The outbox: jobs that an append asks for, written with it, and a worker that carries them out. A job is only a reason to
 * look: its worker reads the log from a watermark of its own, so a job may come twice and do its work once.
 * What a job is about is its queue's business; the store keeps the payload as it is. Each engine keeps and schedules
 * jobs its own way; what they promise is one suite (`queueConformance` of `@palimpsest/testing/conformance`).
 */
import type { Json } from "@palimpsest/core/internal/log";

/** The same from the append that asks for it to the worker that gets it. */
export interface Job<P extends Json = Json> {
  /** Who carries it out, such as `memory`. */
  readonly queue: string;
  /** What it is one of: of each thread, queue and key there is one job at a time, and a newer one replaces it. */
  readonly key: string;
  readonly userId: string;
  readonly threadId: string;
  readonly payload: P;
}

/** As an append carries it; thread and user are the append's. */
export interface NewJob<P extends Json = Json> extends Omit<Job<P>, "userId" | "threadId"> {
  /** From the last append on; at most `MAX_DELAYS` times as long after the first. */
  readonly delayMs: number;
  /** After so many failures it is given up until a person or the next append asks again. */
  readonly maxAttempts: number;
  /** The embedded engine's time, in milliseconds. PostgreSQL goes by its own clock. */
  readonly now: number;
}

export const MAX_DELAYS = 10;
export const MAX_ATTEMPTS = 5;

export interface Outbox {
  /** Asks for a job of a thread of this user beside any append. Without it no index is built in the background. */
  queue?(threadId: string, job: NewJob): Promise<"queued" | "missing">;
  /** Makes the waiting jobs of a thread of this user due; how many there were. */
  makeDue(threadId: string, queue: string): Promise<number>;
  /** Of all users; of one queue, or of all. */
  list(queue?: string): Promise<readonly JobStatus[]>;
  /** Gives what was given up another round of attempts, at once. */
  revive(queue: string): Promise<number>;
  work(options: WorkOptions): Promise<JobWorker>;
}

export interface JobStatus extends Job {
  readonly state: "waiting" | "running" | "dead";
  readonly attempts: number;
  /** When it is due, or was. */
  readonly runAt: string;
  /** Why the last attempt failed; null when it wasn't tried, or its worker ended without a word. */
  readonly error: string | null;
}

export interface WorkOptions {
  /** Only this queue's jobs are taken. */
  readonly queue: string;
  /** May be called again for a job that it has already done. */
  readonly process: (job: Job, signal: AbortSignal) => Promise<unknown>;
  readonly onEvent: (event: JobEvent) => void;
  readonly now: () => number;
  /** A worker that wasn't heard of for so long has vanished: its jobs are taken over. */
  readonly leaseMs: number;
  readonly pollMs: number;
  /** How many jobs at a time, never two of the same thread and key. */
  readonly concurrency: number;
  /** How long `stop` lets running jobs finish before it aborts them and gives them back, as if they had not been taken. */
  readonly stopMs: number;
}

export type JobEvent =
  | { readonly type: "job-start"; readonly job: Job; readonly attempt: number }
  | { readonly type: "job-end"; readonly job: Job }
  | { readonly type: "job-fail"; readonly job: Job; readonly attempt: number; readonly error: string }
  /** The engine can't be reached; the worker goes on trying. */
  | { readonly type: "worker-trouble"; readonly error: string };

export interface JobWorker {
  /** Looks for due jobs now instead of at the next poll. */
  wake(): void;
  stop(): Promise<void>;
}

/** The pause after a failed attempt; the same on both engines. */
export function backOffMs(attempts: number): number {
  return Math.round(Math.exp(Math.min(attempts, 10)) * 1000);
}
