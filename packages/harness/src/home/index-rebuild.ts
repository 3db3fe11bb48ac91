/**
 * Makes search indexes anew, by the same jobs that build them in the background: a rebuild that is killed is finished by
 * whoever has the store open next, and one that finds such a process at work shares the work with it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { indexJob, isSearchable, rebuildIndex } from "../recall/catch-up.ts";
import { INDEX_QUEUE, type IndexProgress, progressOf } from "../recall/index-steps.ts";
import { indexProgress, startIndexing } from "../recall/indexing.ts";
import type { JobStatus } from "../stores/outbox.ts";
import type { Store } from "../stores/store.ts";
import { asUser } from "../stores/users.ts";
import type { Check } from "./doctor.ts";

/** At once where the store keeps no jobs. */
export async function askForIndex(
  store: Store,
  threadId: string,
  onProgress: (threadId: string, progress: IndexProgress) => void,
): Promise<void> {
  const { outbox } = store;
  if (!isSearchable(store) || outbox?.queue === undefined)
    return rebuildIndex(store, threadId, (indexed, records) => onProgress(threadId, { indexed, records }));
  await outbox.queue(threadId, indexJob("start", Date.now()));
}

/** Waits until nothing of it is left, and works on it itself. What was given up is a check that says why. */
export async function buildIndexes(
  store: Store,
  onProgress: (threadId: string, progress: IndexProgress) => void,
): Promise<Check[]> {
  const { outbox } = store;
  if (outbox === undefined || (await outbox.list(INDEX_QUEUE)).length === 0) return [];
  // The same again is no progress: a job that was asked for anew while it ran looks once more when it has ended.
  const told = new Map<string, number>();
  const tell = (threadId: string, progress: IndexProgress): void => {
    if (told.get(threadId) === progress.indexed) return;
    told.set(threadId, progress.indexed);
    onProgress(threadId, progress);
  };
  const own = new Set<string>();
  const indexing = await startIndexing(store, {
    pollMs: LOOK_MS,
    finds: "queued",
    onEvent(event) {
      if (event.type !== "index-progress") return;
      own.add(event.threadId);
      tell(event.threadId, event);
    },
  });
  try {
    for (;;) {
      const jobs = await outbox.list(INDEX_QUEUE);
      const left = jobs.filter(({ state, error }) => state === "running" || (state === "waiting" && error === null));
      if (left.length === 0) return jobs.map(givenUp);
      const elsewhere = left.find(({ state, threadId }) => state === "running" && !own.has(threadId));
      if (elsewhere !== undefined) await tellOf(store, elsewhere, tell);
      await pause(LOOK_MS);
    }
  } finally {
    await indexing.stop();
  }
}

const LOOK_MS = 100;

/** What another process is at. */
async function tellOf(
  store: Store,
  { userId, threadId }: JobStatus,
  onProgress: (threadId: string, progress: IndexProgress) => void,
): Promise<void> {
  const segments = (await asUser(store, userId).search?.lineage(threadId)) ?? [];
  if (segments.length > 0) onProgress(threadId, progressOf(segments.slice(-1)));
}

function givenUp({ threadId, error }: JobStatus): Check {
  const detail = `${error ?? "its worker ended without a word"}; it is tried again in the background`;
  return { name: `search index of ${threadId}`, ok: false, detail };
}

/** Without a rebuild: how far one is that is under way. */
export async function indexCheck(store: Store): Promise<Check[]> {
  const progress = await indexProgress(store);
  if (progress === null) return [];
  const { threads, indexed, records } = progress;
  const of = `${threads} ${threads === 1 ? "thread" : "threads"}`;
  const detail = `${of} to be built: ${indexed} of ${records} records are indexed; a process that serves or chats does it, or --rebuild`;
  return [{ name: "search index", ok: true, detail }];
}
