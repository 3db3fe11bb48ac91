/**
 * The queue's port: jobs that a turn asks for, written with its last append, and a worker that carries them out. A job is
 * only a reason to look: whoever carries it out reads the log from its own watermark, so a job may come twice and do
 * its work once. Each engine keeps and schedules jobs its own way; what they promise is one suite (memory/queue-suite.ts).
 */

/** Who learns, and through where the log asks to be read. */
export interface MemoryJob {
  readonly thread: string;
  readonly user: string;
  readonly agent: string;
  readonly throughSeq: number;
}

/** As an append carries it; thread and user are the append's. Replaces the one that waits for the same thread and agent. */
export interface NewMemoryJob extends Omit<MemoryJob, "thread" | "user"> {
  /** From the last turn on; at most `MAX_DELAYS` times as long after the first. */
  readonly delayMs: number;
  /** After so many failures it is given up until a person or the next turn asks again. */
  readonly maxAttempts: number;
  /** The embedded engine's time, in milliseconds. PostgreSQL goes by its own clock. */
  readonly now: number;
}

export const MAX_DELAYS = 10;
export const MAX_ATTEMPTS = 5;

export interface MemoryJobs {
  /** Makes the waiting jobs of a thread of this user due; how many there were. */
  hurry(thread: string): Promise<number>;
  list(): Promise<readonly JobStatus[]>;
  /** Gives what was given up another round of attempts, at once. */
  revive(): Promise<number>;
  work(options: WorkOptions): Promise<JobWorker>;
}

export interface JobStatus extends Omit<MemoryJob, "throughSeq"> {
  readonly state: "waiting" | "running" | "dead";
  readonly attempts: number;
  /** When it is due, or was. */
  readonly runAt: string;
  /** Why the last attempt failed; null when it wasn't tried, or its worker ended without a word. */
  readonly error: string | null;
}

export interface WorkOptions {
  /** May be called again for a job that it has already done. */
  readonly process: (job: MemoryJob, signal: AbortSignal) => Promise<unknown>;
  readonly onEvent: (event: JobEvent) => void;
  readonly now: () => number;
  /** A worker that wasn't heard of for so long has vanished: its jobs are taken over. */
  readonly leaseMs: number;
  readonly pollMs: number;
  /** How many jobs at a time, never two of the same thread, user and agent. */
  readonly concurrency: number;
  /** How long `stop` lets running jobs finish before it aborts them and gives them back, as if they had not been taken. */
  readonly stopMs: number;
}

export type JobEvent =
  | { readonly type: "job-start"; readonly job: MemoryJob; readonly attempt: number }
  | { readonly type: "job-end"; readonly job: MemoryJob }
  | { readonly type: "job-fail"; readonly job: MemoryJob; readonly attempt: number; readonly error: string }
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
