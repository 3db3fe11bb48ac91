/**
 * Threads that requests work on. One request holds a thread's lease from before its words are written until its answer
 * is, so that no other can come between, on any instance. What is known of a thread stays in memory for the next request;
 * the log says whether it still holds.
 */
import { type Head, parseHeader } from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import { type OpenThread, type OpenThreadOptions, openThread } from "palimpsest/session";
import type { AppendBatch, AppendResult, Lease, NewJob, NewMatch, Store } from "palimpsest/stores";
import type { ThreadDeps, Writer } from "palimpsest/threads";
import type { ViewChanges } from "../policy.ts";

export interface OpenThreads {
  /** `busy`: another request works on it. */
  claim<M extends object>(threadId: string, given: ClaimOptions<M>): Promise<Claimed<M> | "busy" | "missing">;
  close(): Promise<void>;
}

interface ClaimOptions<M extends object>
  extends Pick<
    OpenThreadOptions<M>,
    | "window"
    | "model"
    | "baseUrl"
    | "limits"
    | "bindsReasoning"
    | "prices"
    | "promptCache"
    | "summarization"
    | "writer"
    | "onEvent"
  > {
  readonly store: Store;
  readonly shape: Shape<M>;
  /** Sessions of one thread with other settings are others. */
  readonly label: string;
}

export interface Claimed<M> {
  readonly thread: OpenThread<M>;
  /** What the conversation is known by once the message of this id is in the log; written with it. */
  mark(id: string, mark: Mark): void;
  /** For what else is written under the request's lease. */
  writer(deps: ThreadDeps): Writer;
  /** Where the log stands: nobody else can move it while it is held. */
  head(): Promise<Head | undefined>;
  /** Whether the log's messages are still shown as they were said. */
  view(): Promise<ViewChanges>;
  /** The first time counts. */
  release(): Promise<void>;
}

/** What the conversation is known by from a message on, and the work that its append asks for, by its place. */
interface Mark {
  readonly match: Omit<NewMatch, "seq">;
  readonly jobs: (seq: number) => readonly NewJob[];
}

interface Entry extends Held {
  readonly session: OpenThread<object>;
  /** The store as it is under the lease. */
  readonly store: Store;
  erased: boolean;
}

interface Held {
  lease: Lease | null;
  /** As it was read or written under this lease; null: it has to be read. */
  head: Head | null;
  readonly marks: Map<string, Mark>;
  /** How far the log was searched for erased words. */
  searched: number;
}

/** Most that are kept in memory. */
const KEPT = 256;
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;

export function openThreads(deps: Pick<ThreadDeps, "clock" | "ids">): OpenThreads {
  const entries = new Map<string, Entry>();
  const keep = (key: string, entry: Entry): void => {
    entries.delete(key);
    entries.set(key, entry);
    for (const [oldest, { lease, session }] of entries) {
      if (entries.size <= KEPT) return;
      if (lease !== null) continue;
      entries.delete(oldest);
      void session.close().catch(() => {});
    }
  };
  return {
    async claim<M extends object>(threadId: string, given: ClaimOptions<M>) {
      const { store, label } = given;
      const taken = await store.acquireLease(threadId, deps.ids(), LEASE_MS);
      if (taken.kind !== "acquired") return taken.kind;
      const { lease } = taken;
      try {
        const key = JSON.stringify([store.userId, threadId, label]);
        const entry = entries.get(key) ?? (await openEntry(threadId, lease, { ...given, deps: { clock: deps.clock } }));
        entry.lease = lease;
        entry.head = null;
        keep(key, entry);
        return claimed<M>(entry, { store, lease, thread: threadId });
      } catch (error) {
        await store.releaseLease(lease).catch(() => {});
        throw error;
      }
    },
    async close() {
      await Promise.all([...entries.values()].map(({ session }) => session.close().catch(() => {})));
      entries.clear();
    },
  };
}

async function openEntry<M extends object>(
  id: string,
  lease: Lease,
  options: ClaimOptions<M> & Pick<OpenThreadOptions<M>, "deps">,
): Promise<Entry> {
  const { label: _, store, ...given } = options;
  const held: Held = { lease, head: null, marks: new Map(), searched: 0 };
  const own = heldStore(store, held);
  const opened = await openThread<M>({ ...given, id, store: own });
  if (opened.kind !== "open") throw new Error(`thread ${id} can't be opened: ${opened.kind}`);
  // Sessions of all shapes are kept in one place; whoever claims one again names the same shape by its label.
  const session = opened.thread as unknown as OpenThread<object>;
  return Object.assign(held, { session, store: own, erased: false });
}

/** The session writes under the request's lease, and what it appends carries what the conversation is known by. */
function heldStore(store: Store, held: Held): Store {
  const own: Store = {
    ...store,
    async head(threadId) {
      if (held.lease?.threadId !== threadId) return store.head(threadId);
      const { lease } = held;
      const head = held.head ?? (await store.head(threadId));
      if (held.lease === lease) held.head ??= head ?? null;
      return head;
    },
    redact(request) {
      held.head = null;
      return store.redact(request);
    },
    forUser: (user) => (user === store.userId ? own : store.forUser(user)),
    acquireLease: async (thread, owner, ttlMs) =>
      held.lease === null ? store.acquireLease(thread, owner, ttlMs) : { kind: "acquired", lease: held.lease },
    renewLease: async (lease, ttlMs) => (lease === held.lease ? "renewed" : store.renewLease(lease, ttlMs)),
    releaseLease: async (lease) => {
      if (lease !== held.lease) await store.releaseLease(lease);
    },
    async append(thread, batch) {
      const marked = batch.records.flatMap((record): (Mark & { readonly seq: number })[] => {
        if (record.kind !== "message" || held.marks.size === 0) return [];
        const header = parseHeader(record);
        const mark = header.kind === "message" ? held.marks.get(header.id) : undefined;
        return mark === undefined ? [] : [{ ...mark, seq: record.seq }];
      });
      const matches = marked.map(({ match, seq }): NewMatch => ({ ...match, seq }));
      const jobs = [...(batch.jobs ?? []), ...marked.flatMap(({ jobs: asked, seq }) => asked(seq))];
      // What a client asks it sends again until it is answered: only the answer is worth a wait for the disk.
      const result = await store.append(
        thread,
        marked.length === 0 ? { ...batch, flush: "later" } : { ...batch, matches, jobs },
      );
      if (result.kind === "appended" && marked.length > 0) held.marks.clear();
      moved(held, batch, result.kind);
      return result;
    },
  };
  return own;
}

/** After an append: what is known of the log without reading it. */
function moved(held: Held, { expect, head, lease, records }: AppendBatch, result: AppendResult["kind"]): void {
  held.head = result === "appended" && held.lease?.epoch === lease.epoch ? head : null;
  const erases = records.some(({ kind, header }) => kind === "event" && header.includes("redacted"));
  if (result === "appended" && held.searched === expect && !erases) held.searched = head.version;
}

function claimed<M extends object>(
  entry: Entry,
  { store, lease, thread }: { readonly store: Store; readonly lease: Lease; readonly thread: string },
): Claimed<M> {
  const beat = setInterval(() => void store.renewLease(lease, LEASE_MS).catch(() => {}), HEARTBEAT_MS);
  beat.unref();
  return {
    thread: entry.session as unknown as OpenThread<M>,
    mark: (id, mark) => void entry.marks.set(id, mark),
    writer: (deps) => ({ ...deps, store: entry.store, lease, runId: null }),
    head: () => entry.store.head(thread),
    async view() {
      const head = await entry.store.head(thread);
      if (head === undefined) return { hidden: true, erased: true, added: true };
      if (!entry.erased) entry.erased = await hasErased(store, thread, [entry.searched + 1, head.version]);
      entry.searched = head.version;
      const hidden = head.compaction !== null || head.prunes.length > 0;
      return { hidden, erased: entry.erased, added: head.evidence.length > 0 };
    },
    async release() {
      if (entry.lease !== lease) return;
      clearInterval(beat);
      entry.lease = null;
      entry.head = null;
      entry.marks.clear();
      await store.releaseLease(lease).catch(() => {});
    },
  };
}

async function hasErased(store: Store, threadId: string, range: readonly [number, number]): Promise<boolean> {
  if (range[0] > range[1]) return false;
  for await (const { record } of store.records(threadId, { range, kinds: ["event"] }))
    if (record.kind === "event" && record.event.type === "redacted") return true;
  return false;
}
