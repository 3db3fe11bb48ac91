/**
 * What every driver does alike, whatever its engine, so that a new one need only keep rows: who may be named, the order of a
 * batch, what a load brings beside the tail, page marks, damage, stored JSON, and forks whose parent is deleted.
 */

import {
  type ChainedRecord,
  checkUser,
  type Head,
  type LogRecord,
  parseRecord,
  type ThreadHeader,
} from "@palimpsest/core/internal/log";
import { jsonOr } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import type { AppendBatch, Scrubbed, Store, StoredRecord, ThreadLoad, ThreadQuery, ThreadSummary } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** Throws for a batch whose records don't follow the version it expects, one by one. */
export function assertInOrder({ expect, records }: Pick<AppendBatch, "expect" | "records">): void {
  for (const [index, { seq }] of records.entries())
    if (seq !== expect + 1 + index)
      throw new RangeError(`record ${seq} of a batch on version ${expect} is out of order`);
}

/** Which hidden records a load brings beside the tail, ascending. A live compaction stands after all it hides: in the tail. */
export function hiddenButShown(head: Head, tail: readonly StoredRecord[]): number[] {
  const { compaction, prunes, evidence, pins, usage, hiddenThrough } = head;
  const seqs = new Set([...prunes, ...evidence, ...pins]);
  if (usage !== null) seqs.add(usage);
  const live = compaction === null ? undefined : tail.find((stored) => seqOf(stored) === compaction);
  if (live?.record.kind === "compaction") {
    if (live.record.request !== null) seqs.add(live.record.request);
    for (const system of live.record.systems ?? []) seqs.add(system);
  }
  return [...seqs].filter((seq) => seq <= hiddenThrough).sort((a, b) => a - b);
}

/* Whether what a load brought is all that the head says there is. Hashes are `verify`'s business; a gap shows at once. */

export interface Damage {
  /** The first record that is missing. */
  readonly seq: number;
  readonly message: string;
}

/** Only of what the view is made from: records hidden behind a summary aren't loaded. */
export function damageOf({ header, head, records }: ThreadLoad): Damage | null {
  const tail = records.filter((stored) => seqOf(stored) > head.hiddenThrough);
  let seq = head.hiddenThrough + 1;
  for (const stored of tail) {
    if (seqOf(stored) !== seq) return missing(header.id, seq);
    seq += 1;
  }
  if (seq <= head.version) return missing(header.id, seq);
  const last = tail.at(-1)?.chained;
  return last !== undefined && last.hash !== head.hash ? missing(header.id, head.version) : null;
}

function missing(threadId: string, seq: number): Damage {
  return {
    seq,
    message:
      `thread ${threadId} is damaged: record ${seq} is missing or not what it was. \`palimpsest verify ${threadId}\` names the damage; ` +
      `restore a backup, or fork the thread at ${seq - 1}.`,
  };
}

/* JSON of the log's own making, as it stands in a row. What everything else rests on is checked. */

export function readHeader(text: string): ThreadHeader {
  const header: unknown = JSON.parse(text);
  if (isHeader(header)) return header;
  throw new StoreError("corrupt", "the header of a thread is damaged: it has no id");
}

function isHeader(value: unknown): value is ThreadHeader {
  return isRecord(value) && typeof value["id"] === "string";
}

type StoredHead = Omit<Head, "version" | "messages" | "updatedAt" | "state">;

export function readStoredHead(text: string): StoredHead {
  const head: unknown = JSON.parse(text);
  if (isStoredHead(head)) return head;
  throw new StoreError("corrupt", "the head of a thread is damaged: it doesn't say what stands and what is hidden");
}

function isStoredHead(value: unknown): value is StoredHead {
  if (!isRecord(value) || typeof value["hash"] !== "string" || typeof value["hiddenThrough"] !== "number") return false;
  return [value["prunes"], value["pins"], value["evidence"]].every(Array.isArray);
}

export function readState(text: string): Head["state"] {
  const state: unknown = JSON.parse(text);
  if (isRecord(state)) return state;
  throw new StoreError("corrupt", "the state of a thread is damaged: it is no object");
}

/** As a query for `bodies: "none"` shows it. */
export function withoutBody({ chained, redacted }: StoredRecord): StoredRecord {
  return storedRecord({ ...chained, body: null, redacted });
}

/** A thread as a list shows it. */
export function summaryOf({ header, head }: { readonly header: ThreadHeader; readonly head: Head }): ThreadSummary {
  return { header, title: titleOf(head), messages: head.messages, updatedAt: head.updatedAt };
}

export function titleOf({ state }: Pick<Head, "state">): string | null {
  const { title } = state;
  return typeof title === "string" ? title : null;
}

/** A fork whose parent is deleted has what it shared as its own. */
export function orphaned(header: ThreadHeader): ThreadHeader {
  return { ...header, parent: null, forkedAt: null };
}

/** Where a page of threads ended: the number of its last thread, in the order of creation, and when that last changed. */
export interface PageMark {
  readonly num: number;
  readonly updated: string;
}

/** How pages of threads go on, for an engine that sorts by itself. */
export const PAGE_ORDERS = {
  created: (a: PageMark, b: PageMark) => a.num - b.num,
  recent: (a: PageMark, b: PageMark) => {
    if (a.updated === b.updated) return b.num - a.num;
    return a.updated > b.updated ? -1 : 1;
  },
} as const;

export function writeMark({ num, updated }: PageMark): string {
  return `${num}~${updated}`;
}

export function readMark(text: string): PageMark {
  const match = /^(\d+)~(.*)$/s.exec(text);
  if (!match) throw new TypeError(`${JSON.stringify(text)} is no page mark: pass the "next" of the page before`);
  return { num: Number(match[1]), updated: match[2]! };
}

// A record as it is read from a row. Everything but its number is made when it is first asked for: a thread is opened
// by reading all that it shows, hashes may have to be worked out, and `verify` reads a damaged log to its end.

/** A stored row as a `StoredRecord`. */
export function storedRecord(row: Omit<ChainedRecord, "at"> & { readonly redacted: boolean }): StoredRecord {
  return recordWith(row, row);
}

/** The same, for a store that works hashes out: the text is asked for them only when somebody needs them. */
export function recordWith(place: RecordPlace, text: RecordText): StoredRecord {
  return new ReadRecord(place, text);
}

/** The number of a record, without making anything else of it. */
function seqOf(stored: StoredRecord): number {
  return stored instanceof ReadRecord ? stored.seq : stored.chained.seq;
}

type RecordPlace = Pick<ChainedRecord, "seq" | "kind"> & Pick<StoredRecord, "redacted">;
type RecordText = Pick<ChainedRecord, "header" | "body" | "bodyHash" | "hash">;

/** A class, because a literal with getters takes long to make. */
class ReadRecord implements StoredRecord {
  readonly seq: number;
  readonly redacted: boolean;
  readonly #kind: ChainedRecord["kind"];
  readonly #text: RecordText;
  #chained: ChainedRecord | undefined;
  #record: LogRecord | undefined;

  constructor({ seq, kind, redacted }: RecordPlace, text: RecordText) {
    this.seq = seq;
    this.redacted = redacted;
    this.#kind = kind;
    this.#text = text;
  }

  get chained(): ChainedRecord {
    this.#chained ??= chainedWith(this.seq, this.#kind, this.#text);
    return this.#chained;
  }

  get record(): LogRecord {
    const { header, body } = this.#text;
    this.#record ??= parseRecord({ seq: this.seq, header, body });
    return this.#record;
  }
}

/** A value that can be copied and compared as a whole. */
function chainedWith(seq: number, kind: ChainedRecord["kind"], text: RecordText): ChainedRecord {
  const { header, body } = text;
  let at: string | undefined;
  return {
    seq,
    kind,
    header,
    body,
    get bodyHash() {
      return text.bodyHash;
    },
    get hash() {
      return text.hash;
    },
    get at() {
      at ??= timeOf(header);
      return at;
    },
  };
}

function timeOf(header: string): string {
  const fields = jsonOr(header, null);
  return isRecord(fields) && typeof fields["at"] === "string" ? fields["at"] : "";
}

// Users of a store: who may be named, that a store makes threads for its own user only, and the way through all of them.

/** The last check; code that takes a user from people calls `checkUser` first. */
export function assertUser(userId: string): string {
  const check = checkUser(userId);
  if (check.kind === "invalid") throw new TypeError(check.problem);
  return userId;
}

export function ownHeader(userId: string, header: ThreadHeader): ThreadHeader {
  if (header.user === userId) return header;
  throw new TypeError(
    `thread ${header.id} is ${JSON.stringify(header.user)}'s: make it with store.forUser(${JSON.stringify(header.user)})`,
  );
}

/** The store as this user sees it: the very same where it is theirs already, so that a wrapper around it is kept. */
export function asUser<S extends Store>(store: S, userId: string): S {
  // A driver's `forUser` gives a store with the same capabilities.
  return store.userId === userId ? store : (store.forUser(userId) as S);
}

/** For upkeep: the store as each user who has threads sees it. */
export async function* everyUser<S extends Store>(store: S): AsyncGenerator<S> {
  for (let last: string | undefined; ; ) {
    const page = await store.users(last);
    for (const userId of page) yield asUser(store, userId);
    last = page.at(-1);
    if (last === undefined) return;
  }
}

/** Every thread of the store's user; unless told otherwise oldest first, so that a parent comes before its forks. */
export async function* everyThread(
  store: Store,
  { order = "created", ...query }: Pick<ThreadQuery, "kind" | "order"> = {},
): AsyncGenerator<ThreadSummary> {
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.threads({ ...query, order, limit: 200, after });
    yield* page.threads;
    after = page.next;
  }
}

// What stands in where a store lacks a capability that several callers need, so that each of them asks in one way.

/** Takes what was erased out of the engine's own files; an engine without upkeep keeps nothing aside. */
export async function scrub(store: Pick<Store, "upkeep">): Promise<Scrubbed> {
  return store.upkeep === undefined ? { kind: "clean" } : store.upkeep.scrub();
}
