/**
 * A thread as a whole, by its id: taking back, pinning, forking with its files, searching, where it goes on,
 * and its end. `openThread` and an agent's `thread(id)` offer the same acts.
 */
import type { Head, MessageRecord, ThreadName } from "@palimpsest/core/internal/log";
import { type SearchOutcome, type SearchSettings, searchThread } from "../recall/search.ts";
import { everyThread, scrub } from "../stores/driver-rules.ts";
import { withLease } from "../stores/leases.ts";
import type { Scrubbed, Store } from "../stores/store.ts";
import { type Forked, fork, type Pinned, pin, redo, type Undone, undo, withWriter } from "./acts.ts";
import { replay } from "./audit.ts";
import { eraseEvidence } from "./redact.ts";
import { threadState } from "./thread-view.ts";
import { commit, FILES_COPIED, filesToCopy, type ThreadDeps, type Writer } from "./writer.ts";

/** `R`: what an act answers where it can't have the thread; without it the act throws. */
export interface ThreadActs<R = never> {
  /** Everything ever said, in order, as given. */
  replay(): AsyncIterable<MessageRecord>;
  /** In everything ever said here, hidden or not. */
  search(question: string, settings?: Pick<SearchSettings, "limit">): Promise<SearchOutcome>;
  /** Takes back the newest prune or compaction, or the one asked for. */
  undo(seq?: number): Promise<Undone | R>;
  redo(): Promise<Undone | R>;
  pin(seq: number, on?: "on" | "off"): Promise<Pinned | R>;
  /** Shares the records up to `at`, by default all; its files start as a copy of what is there now. */
  fork(options: { readonly as: string; readonly at?: number }): Promise<Forked>;
  /** The thread this conversation goes on in: the newest fork of `regenerate` or `edit`, else this one. A chat keeps its first id. */
  current(): Promise<string>;
  /** Title, artifacts, todos and what else middleware keeps. */
  state(): Promise<Head["state"]>;
}

interface ActsOptions<R> {
  readonly deps: ThreadDeps;
  readonly id: string;
  readonly files: FileCopier | null;
  /** Does the work under the thread's lease. */
  readonly act: <T>(work: (writer: Writer) => Promise<T>) => Promise<T | R>;
}

export function threadActs<R = never>({ deps, id, files, act }: ActsOptions<R>): ThreadActs<R> {
  return {
    replay: () => replay(deps, id),
    search: (question, settings = {}) =>
      searchThread(deps.store, id, question, {
        embedder: deps.embedder,
        onEmbedding: deps.onEmbedding,
        ...settings,
        tools: deps.tools,
      }),
    undo: (seq) => act((writer) => undo(writer, seq)),
    redo: () => act(redo),
    pin: (seq, on) => act((writer) => pin(writer, seq, on)),
    fork: (options) => (files === null ? fork(deps, id, options) : forkWithFiles(deps, id, options, files)),
    current: () => currentThread(deps.store, id),
    state: async () => (await deps.store.head(id))?.state ?? {},
  };
}

// Forking with files. The fork's state says that they are still to be copied, from the transaction that makes it until
// they are all there: a fork that was killed in between is known by it, and completed by the next process.

/** The port to a thread's files: what forking needs of them. */
export interface FileCopier {
  /** Whether the thread has any. */
  has(thread: ThreadName): Promise<boolean>;
  copy(from: ThreadName, to: ThreadName): Promise<void>;
  remove(thread: ThreadName): Promise<void>;
}

/** Returns `forked` also for a fork of the same place that was not completed before. */
export async function forkWithFiles(
  deps: ThreadDeps,
  from: string,
  options: { readonly as: string; readonly at?: number },
  files: FileCopier,
): Promise<Forked> {
  const { userId } = deps.store;
  const state = (await files.has({ user: userId, id: from })) ? { state: { files: { copyFrom: from } } } : {};
  const forked = await fork(deps, from, { ...options, ...state });
  if (forked.kind === "forked") {
    await completeFork(deps, forked.threadId, files).catch(async (error: unknown) => {
      // There is no room for them, say: a fork without its files is not what was asked for.
      await files.remove({ user: userId, id: forked.threadId });
      await deps.store.deleteThread(forked.threadId);
      throw error;
    });
  }
  if (forked.kind !== "exists") return forked;
  const header = await deps.store.header(options.as);
  const same = header?.parent === from && (options.at === undefined || header.forkedAt === options.at);
  if (!same || !(await completeFork(deps, options.as, files))) return forked;
  return { kind: "forked", threadId: options.as, parent: from, at: header.forkedAt ?? 0 };
}

/** Copies what a killed fork has still to copy. False: nothing was left to do, or another holds the thread. */
export async function completeFork(deps: ThreadDeps, threadId: string, { copy }: FileCopier): Promise<boolean> {
  const { userId } = deps.store;
  const from = filesToCopy((await deps.store.head(threadId))?.state ?? {});
  if (from === null) return false;
  const result = await withWriter(deps, threadId, async (writer) => {
    await copy({ user: userId, id: from }, { user: userId, id: threadId });
    return commit(writer, [{ kind: "state", patch: FILES_COPIED }]);
  });
  return result.kind === "done" && result.value.kind === "committed";
}

declare module "./thread-view.ts" {
  interface ThreadState {
    readonly continued?: Continued;
  }
}

// Where a conversation goes on once an answer was asked for again or a message said anew. The fork has an id of its
// own; a chat keeps the id it began with. So the thread's state says which fork it is, until somebody goes on in
// the thread itself.

interface Continued {
  /** Whose state it is: forks begin with what their parent's says. */
  readonly thread: string;
  readonly fork: string;
  /** How many messages the thread had. */
  readonly messages: number;
}

export function continuedPatch(threadId: string, { messages }: Head, fork: string): Head["state"] {
  const continued: Continued = { thread: threadId, fork, messages };
  return { continued };
}

/** The fork of a fork, and so on, that the conversation goes on in; the thread itself where there is none. */
export async function currentThread(store: Store, threadId: string): Promise<string> {
  let id = threadId;
  let head = await store.head(id);
  while (head !== undefined) {
    const fork = continuedIn(id, head);
    const next = fork === null ? undefined : await store.head(fork);
    if (fork === null || next === undefined) return id;
    [id, head] = [fork, next];
  }
  return id;
}

/** The thread that this one was left for; null while it is gone on with itself. */
export function continuedIn(id: string, head: Head): string | null {
  const { continued } = threadState(head);
  return continued?.thread === id && continued.messages === head.messages ? continued.fork : null;
}

// Deleting a thread with all that would be left of it elsewhere. Can be run again after a crash, and then completes
// what was begun.

export type DeletedThread =
  | { readonly kind: "deleted"; readonly scrubbed: Scrubbed }
  | { readonly kind: "busy"; readonly threadId: string; readonly renewedAt?: string; readonly expiresAt?: string }
  | { readonly kind: "missing" };

/**
 * With the evidence that other threads got from it, and with its sub-agents' threads. The thread itself goes last: whoever is killed
 * in between leaves one that can be deleted again, never files or quotes without one. What was learned from it stays.
 */
export async function deleteThread(
  deps: ThreadDeps,
  threadId: string,
  files: Pick<FileCopier, "remove"> | null,
): Promise<DeletedThread> {
  const { store } = deps;
  const head = await store.head(threadId);
  if (head === undefined) return { kind: "missing" };
  const names = new Set(Array.from({ length: head.version }, (_, index) => `${threadId}#${index + 1}`));
  const [borrower] = (await eraseEvidence(deps, names)).busy;
  if (borrower !== undefined) return { kind: "busy", threadId: borrower };
  for (const child of await childrenOf(store, threadId)) {
    const result = await deleteThread(deps, child, files);
    if (result.kind === "busy") return result;
  }
  const name: ThreadName = { user: store.userId, id: threadId };
  const held = await withLease(store, threadId, { owner: deps.ids() }, async (lease) => {
    await files?.remove(name);
    return store.deleteThread(threadId, lease);
  });
  if (held.kind === "missing") return held;
  if (held.kind === "busy") return { kind: "busy", threadId, renewedAt: held.renewedAt, expiresAt: held.expiresAt };
  if (held.value !== "deleted") return { kind: held.value, threadId };
  return { kind: "deleted", scrubbed: await scrub(store) };
}

/** Its sub-agents' threads; none while a fork still shows what they did. */
async function childrenOf(store: Store, threadId: string): Promise<string[]> {
  const children: string[] = [];
  for await (const { header } of everyThread(store)) {
    if (header.parent !== threadId) continue;
    if (header.forkedAt !== null) return [];
    children.push(header.id);
  }
  return children;
}
