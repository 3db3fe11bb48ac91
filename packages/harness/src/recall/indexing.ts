/**
 * Builds search indexes in the background of a process that has the store open for long: a worker on the store's outbox. It
 * takes what searches left to it, what a rebuild asked for, and at its start every thread whose index lacks much, as after an
 * update or a copy. One worker at a time holds a thread's job; one that is killed is followed by another, which goes on where
 * the tables say. Below: the vectors of messages, where there is an embedder.
 */
import { errorText } from "@palimpsest/core/internal/text";
import type { EmbeddingModel } from "ai";
import { nextTask, untilAborted } from "../long-work.ts";
import { asUser } from "../stores/driver-rules.ts";
import { LEASE_TTL_MS } from "../stores/leases.ts";
import type { Job, JobEvent, JobStatus, WorkOptions } from "../stores/outbox.ts";
import type { LateThreads, SearchableStore, VectorTable } from "../stores/search-tables.ts";
import type { Store } from "../stores/store.ts";
import { catchUp, catchUpShare, type IndexDeps, type IndexPayload, indexJob, isSearchable } from "./catch-up.ts";
import { type Embedder, embedderOf, type OnEmbedding, type Tell, type Underway } from "./embedder.ts";
import { readMessages } from "./search.ts";
import { INDEX_QUEUE, type IndexProgress, progressOf, refOf, SHARE_RECORDS } from "./stored-index.ts";

export type IndexingEvent =
  /** Before each batch, and once when nothing is left. */
  | ({ readonly type: "index-progress"; readonly userId: string; readonly threadId: string } & IndexProgress)
  | { readonly type: "index-end"; readonly userId: string; readonly threadId: string }
  /** Tried again later. Null: the store itself could not be asked. */
  | { readonly type: "index-fail"; readonly userId: string; readonly threadId: string | null; readonly reason: string };

export interface IndexingOptions extends Partial<Pick<WorkOptions, "leaseMs" | "pollMs" | "stopMs">> {
  readonly onEvent?: (event: IndexingEvent) => void;
  readonly clock?: () => Date;
  /** `queued`: only threads that were asked for. */
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
    // From here on a kill costs nothing: the worker that takes the job over goes on, and doesn't begin again.
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

/* Vectors of messages, where there is an embedder: made behind the turns as well. */

/** No run waits for these, but one that never answers must not hold the rest up. */
const BATCH_MS = 60_000;
const BATCH = 64;

interface EmbeddingDeps extends IndexDeps {
  readonly embedder?: EmbeddingModel | undefined;
  readonly onEmbedding?: OnEmbedding | undefined;
}

/** How long it may work. */
interface Time {
  /** From then on nothing is begun: what a short process has just said is still embedded, a long past isn't. */
  readonly closing: AbortSignal;
  /** From then on nothing goes on. */
  readonly over: AbortSignal;
}

/** Gives the thread's messages the vectors they lack. Never throws; a call while it is under way gets the same promise. */
export function keepEmbedded(deps: EmbeddingDeps, threadId: string, time: Time): Promise<void> {
  const { store, onEmbedding } = deps;
  if (deps.embedder === undefined || !isSearchable(store) || !store.search.vectors) return Promise.resolve();
  const embedder = embedderOf(deps.embedder);
  const key = JSON.stringify([store.userId, threadId]);
  const current = embedder.underWay.get(key);
  if (current !== undefined) {
    current.again = true;
    return current.work;
  }
  const tell: Tell = (event) => onEmbedding?.(event, threadId, store.userId);
  const embedding = { ...deps, store, embedder, vectors: store.search.vectors, tell, time };
  const all = async (): Promise<void> => {
    do {
      underWay.again = false;
      await embedThread(embedding, threadId);
    } while (underWay.again && !time.closing.aborted);
  };
  const work = Promise.resolve()
    .then(all)
    .catch(() => {})
    .finally(() => embedder.underWay.delete(key));
  const underWay: Underway = { work, again: false };
  embedder.underWay.set(key, underWay);
  return work;
}

/** Waits for what is being embedded, so long at most; what is left then is made after the thread's next run. */
export async function untilEmbedded(model: EmbeddingModel, withinMs: number): Promise<void> {
  const works = [...embedderOf(model).underWay.values()].map(({ work }) => work);
  await untilAborted(AbortSignal.timeout(withinMs), () => Promise.all(works)).catch(() => {});
}

interface Embedding extends IndexDeps {
  readonly store: SearchableStore;
  readonly embedder: Embedder;
  readonly vectors: VectorTable;
  readonly tell: Tell;
  readonly time: Time;
}

async function embedThread(deps: Embedding, threadId: string): Promise<void> {
  for (const segment of await catchUpShare(deps, threadId)) {
    while ((await embedBatch(deps, segment.threadId)) && !deps.time.closing.aborted);
  }
}

/** False when there is nothing left to do, or somebody else does it. */
async function embedBatch(deps: Embedding, threadId: string): Promise<boolean> {
  const { store, embedder, vectors, tools, tell } = deps;
  const { through, seqs } = await vectors.pending(threadId, embedder.name, BATCH);
  const last = seqs.at(-1);
  if (last === undefined) return false;
  const messages = await readMessages(
    store,
    seqs.map((seq) => ({ threadId, seq })),
    tools,
  );
  const texts = seqs.flatMap((seq) => {
    const text = messages.get(refOf({ threadId, seq }))?.text ?? "";
    return text.trim() === "" ? [] : [{ seq, text }];
  });
  const made =
    texts.length === 0
      ? []
      : await embedder.embed(
          texts.map(({ text }) => text),
          { signal: AbortSignal.any([deps.time.over, AbortSignal.timeout(BATCH_MS)]), retries: 1, tell },
        );
  const { model, dimension } = embedder.name;
  if (dimension === undefined) return false;
  const written = await vectors.write(threadId, {
    embedder: { model, dimension },
    expect: through,
    through: last,
    vectors: texts.flatMap(({ seq }, at) => {
      const vector = made[at];
      return vector && vector.length === dimension ? [{ seq, vector }] : [];
    }),
  });
  return written === "written";
}
