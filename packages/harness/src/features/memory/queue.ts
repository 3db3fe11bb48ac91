/**
 * The durable queue between turns and memory: makes the job that a turn's last append carries, runs the worker, and
 * drains before the process ends. The store keeps the jobs; nothing here is lost with the process. What a job does is the
 * caller's `process`, which reads the log from its own watermark.
 */
import { setTimeout as pause } from "node:timers/promises";
import { errorText } from "@palimpsest/core/internal/text";
import { asUser } from "../../stores/driver-rules.ts";
import { LEASE_TTL_MS } from "../../stores/leases.ts";
import {
  type Job,
  type JobEvent,
  type JobStatus,
  type JobWorker,
  MAX_ATTEMPTS,
  type NewJob,
  type Outbox,
  type WorkOptions,
} from "../../stores/outbox.ts";
import type { Store } from "../../stores/store.ts";
import type { EmitMemory } from "./storage.ts";
import type { UpdateOutcome } from "./updater.ts";

export interface MemoryQueueOptions extends Partial<Omit<WorkOptions, "queue" | "process" | "now">> {
  /** An outcome that says `failed` is tried again later, as an error is. */
  readonly process: (job: MemoryJob, signal: AbortSignal) => Promise<UpdateOutcome>;
  readonly debounceSeconds?: number | undefined;
  readonly maxAttempts?: number;
  /** `by-hand`: for a process that queues jobs which another one carries out; only `start`, `drain` and `retry` work here. */
  readonly starts?: "with-the-first-job" | "by-hand" | undefined;
  readonly clock?: () => Date;
  readonly emit?: EmitMemory;
}

type QueuedThread = Pick<MemoryJob, "userId" | "threadId">;

export interface MemoryQueue {
  /** The job of a turn, to be given to the append that ends it. */
  job(turn: Pick<MemoryTurn, "agentName" | "throughSeq">): NewJob<MemoryPayload>;
  /** To be told when that append stands: says so, through the run's own events if given; `drain` will wait for it. */
  queued(turn: QueuedThread, messages: number, emit?: EmitMemory): void;
  /** Makes the thread's job due at once; a compaction asks for it. */
  makeDue(of: QueuedThread): Promise<void>;
  start(): Promise<void>;
  /** Makes what this process has queued due, and waits until it is done or the limit has passed. */
  drain(limitMs: number): Promise<Drained>;
  /** The same for everything that is queued, by any process; what was given up gets another round of attempts. */
  retry(limitMs: number): Promise<Drained & { readonly revived: number; readonly threads: readonly string[] }>;
  /** Lets running jobs finish for a moment; what is left stays for the next worker. From then on only `start` starts one. */
  stop(): Promise<void>;
}

export type Drained =
  | { readonly kind: "drained" }
  /** They stay queued: `waiting` came too late or failed and will be tried again, `dead` were given up. */
  | { readonly kind: "left"; readonly jobs: readonly JobStatus[] };

export function createMemoryQueue(store: Store, options: MemoryQueueOptions): MemoryQueue {
  const { debounceSeconds = 30, maxAttempts = MAX_ATTEMPTS, clock = () => new Date() } = options;
  const now = () => clock().getTime();
  const job: MemoryQueue["job"] = ({ agentName, throughSeq }) => {
    const times = { delayMs: Math.round(debounceSeconds * 1000), maxAttempts, now: now() };
    return { queue: MEMORY_QUEUE, key: agentName, payload: { throughSeq }, ...times };
  };
  const { outbox } = store;
  if (outbox === undefined) return withoutOutbox(job, options.emit);
  const queued = new Map<string, QueuedThread>();
  let worker: Promise<JobWorker> | undefined;
  let byItself = options.starts !== "by-hand";
  const start = (): Promise<JobWorker> => {
    worker ??= outbox.work(workOptions(options, now)).catch((error: unknown) => {
      worker = undefined;
      throw error;
    });
    return worker;
  };
  /** It has something to do; a process that has nothing else to do is not kept for it. */
  const startByItself = async (): Promise<void> => {
    if (byItself) await start().catch((error: unknown) => tellTrouble(error, options.emit));
  };
  return {
    job,
    queued({ userId, threadId }, messages, emit = options.emit) {
      queued.set(nameOf({ userId, threadId }), { userId, threadId });
      emit?.({ type: "memory-queued", threadId, messages });
      emit?.({ type: "memory-debounced", threadId, seconds: debounceSeconds });
      void startByItself();
    },
    async makeDue({ userId, threadId }) {
      if ((await makeDue(store, { userId, threadId })) === 0) return;
      await startByItself();
      (await worker)?.wake();
    },
    async start() {
      await start();
    },
    async drain(limitMs) {
      return settle({ store, outbox }, await start(), { of: [...queued.values()], limitMs });
    },
    async retry(limitMs) {
      const revived = await outbox.revive(MEMORY_QUEUE);
      const before = await outbox.list(MEMORY_QUEUE);
      const drained = await settle({ store, outbox }, await start(), { of: before, limitMs, before });
      return { ...drained, revived, threads: [...new Set(before.map(({ threadId }) => threadId))] };
    },
    async stop() {
      const running = worker;
      [worker, byItself] = [undefined, false];
      await (await running)?.stop();
    },
  };
}

/** For a store that keeps no jobs: nothing is learned from turns, and one event reports it. */
function withoutOutbox(job: MemoryQueue["job"], emit: EmitMemory | undefined): MemoryQueue {
  let told = false;
  return {
    job,
    queued(_turn, _messages, tell = emit) {
      if (!told) tellTrouble("this store has no outbox: memory learns nothing from turns", tell);
      told = true;
    },
    makeDue: async () => {},
    start: async () => {},
    drain: async () => ({ kind: "drained" }),
    retry: async () => ({ kind: "drained", revived: 0, threads: [] }),
    stop: async () => {},
  };
}

interface Settling {
  readonly of: readonly QueuedThread[];
  readonly limitMs: number;
  /** Attempts that were made earlier say nothing about this one. */
  readonly before?: readonly JobStatus[];
}

/** Makes the threads' jobs due and waits until each is done or has failed, or the time is up. */
async function settle(
  { store, outbox }: { readonly store: Store; readonly outbox: Outbox },
  { wake }: JobWorker,
  { of, limitMs, before = [] }: Settling,
): Promise<Drained> {
  const deadline = performance.now() + limitMs;
  const earlier = new Map(before.map((job) => [keyOf(job), job.attempts]));
  /** It waits for its next attempt, or for a person. */
  const hasFailed = (job: JobStatus) =>
    job.state === "dead" ||
    (job.state === "waiting" && job.error !== null && job.attempts > (earlier.get(keyOf(job)) ?? 0));
  const names = new Set(of.map(nameOf));
  for (const one of of) await makeDue(store, one);
  wake();
  for (;;) {
    const left = (await outbox.list(MEMORY_QUEUE)).filter((job) => names.has(nameOf(job)));
    if (left.length === 0) return { kind: "drained" };
    if (left.every(hasFailed) || performance.now() >= deadline) return { kind: "left", jobs: left };
    await pause(20);
  }
}

async function makeDue(store: Store, { userId, threadId }: QueuedThread): Promise<number> {
  return (await asUser(store, userId).outbox?.makeDue(threadId, MEMORY_QUEUE)) ?? 0;
}

function keyOf({ threadId, userId, key }: JobStatus): string {
  return JSON.stringify([userId, threadId, key]);
}

function nameOf({ userId, threadId }: QueuedThread): string {
  return JSON.stringify([userId, threadId]);
}

function tellFailure(event: JobEvent, emit: EmitMemory = () => {}): void {
  if (event.type === "job-fail") emit({ type: "memory-failed", threadId: event.job.threadId, reason: event.error });
  if (event.type === "worker-trouble") tellTrouble(event.error, emit);
}

function tellTrouble(error: unknown, emit: EmitMemory = () => {}): void {
  emit({ type: "memory-failed", threadId: null, reason: errorText(error) });
}

function workOptions(options: MemoryQueueOptions, now: () => number): WorkOptions {
  return {
    queue: MEMORY_QUEUE,
    async process(job, signal) {
      const outcome = await options.process(job as MemoryJob, signal);
      if (outcome.kind === "failed") throw new Error(`${outcome.reason}: ${outcome.detail}`);
    },
    onEvent(event) {
      options.onEvent?.(event);
      tellFailure(event, options.emit);
    },
    now,
    leaseMs: options.leaseMs ?? LEASE_TTL_MS,
    pollMs: options.pollMs ?? 1000,
    concurrency: options.concurrency ?? 2,
    stopMs: options.stopMs ?? 5000,
  };
}

/* What a turn asks of memory, in the outbox's words: the key is the agent, the payload says how far the log is to be read. */

export const MEMORY_QUEUE = "memory";

type MemoryPayload = { readonly throughSeq: number };
export type MemoryJob = Job<MemoryPayload>;

/** Which thread, of whom, and through where. */
export type MemoryTurn = Pick<MemoryJob, "userId" | "threadId"> & MemoryPayload & { readonly agentName: string };

export function memoryJob({ userId, threadId, agentName, throughSeq }: MemoryTurn): MemoryJob {
  return { queue: MEMORY_QUEUE, key: agentName, userId, threadId, payload: { throughSeq } };
}
