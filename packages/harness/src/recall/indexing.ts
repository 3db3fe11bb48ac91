/**
 * Builds search indexes in the background of a process that has the store open for long: a worker on the store's outbox. It
 * takes what searches left to it, what a rebuild asked for, and at its start every thread whose index lacks much, as after an
 * update or a copy. One worker at a time holds a thread's job; one that is killed is followed by another, which goes on where
 * the tables say.
 */
import { errorText } from "@palimpsest/core/internal/text";
import { nextTask } from "../long-work.ts";
import { asUser } from "../stores/driver-rules.ts";
import { LEASE_TTL_MS } from "../stores/leases.ts";
import type { Job, JobEvent, JobStatus, WorkOptions } from "../stores/outbox.ts";
import type { LateThreads, SearchableStore } from "../stores/search-tables.ts";
import type { Store } from "../stores/store.ts";
import { catchUp, type IndexPayload, indexJob, isSearchable } from "./catch-up.ts";
import { INDEX_QUEUE, type IndexProgress, progressOf, SHARE_RECORDS } from "./stored-index.ts";

export type IndexingEvent =
  /** Before each batch, and once when nothing is left. */
  | ({ readonly type: "index-progress"; readonly userId: string; readonly threadId: string } & IndexProgress)
  | { readonly type: "index-end"; readonly userId: string; readonly threadId: string }
  /** Tried again later. Null: the store itself could not be asked. */
  | { readonly type: "index-fail"; readonly userId: string; readonly threadId: string | null; readonly reason: string };

export interface IndexingOptions extends Partial<Pick<WorkOptions, "leaseMs" | "pollMs" | "stopMs">> {
  readonly onEvent?: (event: IndexingEvent) => void;
  readonly clock?: () => Date;
  /** `queued`: threads that nobody asked for aren't looked for. */
  readonly finds?: "late" | "queued";
}

export interface Indexing {
  /** Looks for jobs now. */
  wake(): void;
  /** Ends between two batches; what is left stays for the next worker. */
  stop(): Promise<void>;
}

/** Does nothing for a store that keeps no index or no jobs. */
export async function startIndexing(store: Store, options: IndexingOptions = {}): Promise<Indexing> {
  const { outbox } = store;
  if (!isSearchable(store) || outbox?.queue === undefined) return { wake() {}, stop: async () => {} };
  const { clock = () => new Date(), onEvent = () => {}, finds = "late" } = options;
  const now = () => clock().getTime();
  const worker = await outbox.work({
    queue: INDEX_QUEUE,
    process: (job, signal) => build(asUser(store, job.userId), job, { now, onEvent, signal }),
    onEvent: (event) => tell(event, store, onEvent),
    now,
    leaseMs: options.leaseMs ?? LEASE_TTL_MS,
    pollMs: options.pollMs ?? 2000,
    concurrency: 1,
    stopMs: options.stopMs ?? 0,
  });
  const stopping = new AbortController();
  const finding = finds === "late" ? queueLate(store, now, stopping.signal) : Promise.resolve();
  const found = finding.then(worker.wake, (error: unknown) => {
    onEvent({ type: "index-fail", userId: store.userId, threadId: null, reason: errorText(error) });
  });
  return {
    wake: worker.wake,
    async stop() {
      stopping.abort();
      await found;
      await worker.stop();
    },
  };
}

/** How far all that is queued has come; null: nothing is. */
export async function indexProgress(store: Store): Promise<(IndexProgress & { readonly threads: number }) | null> {
  const jobs = (await store.outbox?.list(INDEX_QUEUE)) ?? [];
  let [indexed, records] = [0, 0];
  for (const { userId, threadId } of jobs.slice(0, MOST_COUNTED)) {
    const segments = (await asUser(store, userId).search?.lineage(threadId)) ?? [];
    const progress = progressOf(segments.slice(-1));
    indexed += progress.indexed;
    records += progress.records;
  }
  return jobs.length === 0 ? null : { threads: jobs.length, indexed, records };
}

/** Enough for a figure to be looked at. */
const MOST_COUNTED = 1000;

interface BuildDeps {
  readonly now: () => number;
  readonly onEvent: (event: IndexingEvent) => void;
  readonly signal: AbortSignal;
}

async function build(store: SearchableStore, job: Job, { now, onEvent, signal }: BuildDeps): Promise<void> {
  const { userId, threadId } = job;
  if ((job.payload as IndexPayload).from === "start") {
    await store.search.clear(threadId);
    // From here on a kill costs nothing: whoever takes the job over goes on, and doesn't begin again.
    await store.outbox?.queue?.(threadId, indexJob("here", now()));
  }
  await catchUp(store, threadId, {
    onStep: (progress) => onEvent({ type: "index-progress", userId, threadId, ...progress }),
    async pause() {
      await nextTask();
      signal.throwIfAborted();
    },
  });
}

async function queueLate(store: SearchableStore, now: () => number, signal: AbortSignal): Promise<void> {
  const queued = new Set((await store.outbox?.list(INDEX_QUEUE))?.map(nameOf));
  for (let after: string | null = null; !signal.aborted; ) {
    const page: LateThreads | undefined = await store.search.late?.(SHARE_RECORDS, after);
    for (const thread of page?.threads ?? [])
      if (!queued.has(nameOf(thread)))
        await asUser<Store>(store, thread.userId).outbox?.queue?.(thread.threadId, indexJob("here", now()));
    after = page?.next ?? null;
    if (after === null) return;
    await nextTask();
  }
}

function tell(event: JobEvent, { userId }: Store, onEvent: (event: IndexingEvent) => void): void {
  if (event.type === "worker-trouble") onEvent({ type: "index-fail", userId, threadId: null, reason: event.error });
  if (event.type !== "job-end" && event.type !== "job-fail") return;
  const { job } = event;
  const of = { userId: job.userId, threadId: job.threadId };
  if (event.type === "job-end") onEvent({ type: "index-end", ...of });
  else onEvent({ type: "index-fail", ...of, reason: event.error });
}

function nameOf({ userId, threadId }: Pick<JobStatus, "userId" | "threadId">): string {
  return JSON.stringify([userId, threadId]);
}
