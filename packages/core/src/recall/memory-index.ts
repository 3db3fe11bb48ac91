/**
 * The index in memory: postings per term, entries added one by one. It is the reference every store is compared with, and what
 * the bench, the lab and the tests use. It knows threads and their users, not forks.
 */
import { place } from "./entry.ts";
import type {
  CandidateRequest,
  IndexEntry,
  IndexedDoc,
  Placement,
  RecallIndex,
  Scope,
  ScopeStatistics,
  Seek,
} from "./port.ts";

interface EntryAddress {
  readonly threadId: string;
  readonly seq: number;
  readonly userId?: string;
}

interface IndexRow extends Placement {
  readonly threadId: string;
  readonly seq: number;
  readonly entry: IndexEntry;
}

interface IndexedThread {
  readonly rows: Map<number, IndexRow>;
  readonly byOrdinal: (IndexRow | undefined)[];
  /** By term, in ascending seq. */
  readonly postings: Map<string, IndexRow[]>;
  newest: Placement | null;
  totalLength: number;
}

export class MemoryIndex implements RecallIndex {
  readonly #threads = new Map<string, IndexedThread>();
  readonly #owners = new Map<string, Set<string>>();

  /** Entries of a thread in ascending seq; the same (thread, seq) again replaces the entry where it stands. */
  put(address: EntryAddress, entry: IndexEntry): void {
    const thread = this.#threads.get(address.threadId) ?? emptyThread();
    this.#threads.set(address.threadId, thread);
    const userId = address.userId ?? "";
    this.#owners.set(userId, (this.#owners.get(userId) ?? new Set()).add(address.threadId));
    const before = thread.rows.get(address.seq);
    if (before) drop(thread, before);
    const { ordinal, session } = before ?? place(thread.newest, entry.at);
    if (!before) thread.newest = { ordinal, session, at: entry.at };
    const row = { threadId: address.threadId, seq: address.seq, entry, ordinal, session, at: entry.at };
    thread.rows.set(address.seq, row);
    thread.byOrdinal[ordinal] = row;
    thread.totalLength += entry.length;
    for (const term of entry.terms.keys()) {
      const list = thread.postings.get(term);
      if (list) list.splice(positionOf(list, row.seq), 0, row);
      else thread.postings.set(term, [row]);
    }
  }

  remove(name: string, seq: number): void {
    const thread = this.#threads.get(name);
    const row = thread?.rows.get(seq);
    if (thread && row) drop(thread, row);
  }

  async statistics(scope: Scope, terms: readonly string[]): Promise<ScopeStatistics> {
    const threads = this.#within(scope);
    const sum = (of: (thread: IndexedThread) => number): number =>
      threads.reduce((total, thread) => total + of(thread), 0);
    return {
      entries: sum(({ rows }) => rows.size),
      totalLength: sum(({ totalLength }) => totalLength),
      holding: new Map(terms.map((term) => [term, sum(({ postings }) => postings.get(term)?.length ?? 0)])),
    };
  }

  async candidates(scope: Scope, request: CandidateRequest): Promise<IndexedDoc[]> {
    const threads = this.#within(scope);
    const wanted = new Map<string, Uint8Array>();
    for (const seek of request.seeks) {
      for (const row of seekRows(threads, seek)) {
        const { byOrdinal } = this.#threads.get(row.threadId)!;
        const marks = wanted.get(row.threadId) ?? new Uint8Array(byOrdinal.length);
        wanted.set(row.threadId, marks);
        for (let at = Math.max(0, row.ordinal - request.reach); at <= row.ordinal + request.reach; at += 1) {
          if (byOrdinal[at]?.session === row.session) marks[at] = 1;
        }
      }
    }
    return [...wanted].flatMap(([name, marks]) => markedDocs(this.#threads.get(name)!, marks, request.terms));
  }

  /** The thread that spoke last comes first. */
  #within(scope: Scope): IndexedThread[] {
    const names = scope.kind === "thread" ? [scope.threadId] : [...(this.#owners.get(scope.userId) ?? [])].sort();
    const threads = names.map((name) => this.#threads.get(name)).filter((thread) => thread !== undefined);
    return threads.sort((a, b) => (a.newest!.at === b.newest!.at ? 0 : a.newest!.at > b.newest!.at ? -1 : 1));
  }
}

function emptyThread(): IndexedThread {
  return { rows: new Map(), byOrdinal: [], postings: new Map(), newest: null, totalLength: 0 };
}

function drop(thread: IndexedThread, row: IndexRow): void {
  thread.rows.delete(row.seq);
  thread.byOrdinal[row.ordinal] = undefined;
  thread.totalLength -= row.entry.length;
  for (const term of row.entry.terms.keys()) {
    const list = thread.postings.get(term) ?? [];
    list.splice(positionOf(list, row.seq), 1);
  }
}

/** Where `seq` stands or belongs; from the end, as entries come in order. */
function positionOf(list: readonly IndexRow[], seq: number): number {
  let at = list.length;
  while (at > 0 && list[at - 1]!.seq >= seq) at -= 1;
  return at;
}

/** The lists are in the order of what is sought, so it can stop early. */
function seekRows(threads: readonly IndexedThread[], { all, limit }: Seek): IndexRow[] {
  const rows: IndexRow[] = [];
  for (const { postings } of threads) {
    const lists = all.map((term) => postings.get(term) ?? []);
    const shortest = lists.reduce((best, list) => (list.length < best.length ? list : best), lists[0] ?? []);
    for (let at = shortest.length - 1; at >= 0 && rows.length < limit; at -= 1) {
      const row = shortest[at]!;
      if (all.length === 1 || all.every((term) => row.entry.terms.has(term))) rows.push(row);
    }
  }
  return rows;
}

/** What a doc says of the terms is filled in from the postings: most neighbours hold none of them, and are never looked at for them. */
function markedDocs(thread: IndexedThread, marks: Uint8Array, terms: readonly string[]): IndexedDoc[] {
  const docs: OpenDoc[] = [];
  const byOrdinal: OpenDoc[] = [];
  for (let at = marks.indexOf(1); at >= 0; at = marks.indexOf(1, at + 1)) {
    const { threadId, seq, ordinal, session, at: time, entry } = thread.byOrdinal[at]!;
    const { speaker, length, asks } = entry;
    const doc: OpenDoc = {
      threadId,
      seq,
      ordinal,
      session,
      at: time,
      speaker,
      length,
      asks,
      frequencies: new Array<number>(terms.length).fill(0),
      passages: null,
    };
    docs.push(doc);
    byOrdinal[at] = doc;
  }
  terms.forEach((term, t) => {
    for (const { ordinal, entry } of thread.postings.get(term) ?? []) {
      const doc = byOrdinal[ordinal];
      if (doc === undefined) continue;
      doc.frequencies[t] = entry.terms.get(term) ?? 0;
      const bits = entry.passages?.get(term) ?? 0;
      if (bits === 0) continue;
      doc.passages ??= new Array<number>(terms.length).fill(0);
      doc.passages[t] = bits;
    }
  });
  return docs;
}

interface OpenDoc extends IndexedDoc {
  readonly frequencies: number[];
  passages: number[] | null;
}
