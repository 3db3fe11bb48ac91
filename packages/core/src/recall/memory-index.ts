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

interface Address {
  readonly thread: string;
  readonly seq: number;
  readonly user?: string;
}

interface Row extends Placement {
  readonly thread: string;
  readonly user: string;
  readonly seq: number;
  readonly entry: IndexEntry;
}

interface Thread {
  readonly rows: Map<number, Row>;
  readonly byOrdinal: (Row | undefined)[];
  newest: Placement | null;
}

export class MemoryIndex implements RecallIndex {
  readonly #threads = new Map<string, Thread>();
  readonly #postings = new Map<string, Set<Row>>();
  readonly #totals = new Map<string, { readonly entries: number; readonly totalLength: number }>();

  /** Entries of a thread in ascending seq; the same (thread, seq) again replaces the entry where it stands. */
  put(address: Address, entry: IndexEntry): void {
    const thread = this.#threads.get(address.thread) ?? { rows: new Map(), byOrdinal: [], newest: null };
    this.#threads.set(address.thread, thread);
    const before = thread.rows.get(address.seq);
    if (before) this.#drop(thread, before);
    const { ordinal, session } = before ?? place(thread.newest, entry.at);
    if (!before) thread.newest = { ordinal, session, at: entry.at };
    const row = { ...address, user: address.user ?? "", entry, ordinal, session, at: entry.at };
    thread.rows.set(address.seq, row);
    thread.byOrdinal[ordinal] = row;
    this.#count(row, 1);
    for (const term of entry.terms.keys()) {
      const list = this.#postings.get(term);
      if (list) list.add(row);
      else this.#postings.set(term, new Set([row]));
    }
  }

  remove(name: string, seq: number): void {
    const thread = this.#threads.get(name);
    const row = thread?.rows.get(seq);
    if (thread && row) this.#drop(thread, row);
  }

  async statistics(scope: Scope, terms: readonly string[]): Promise<ScopeStatistics> {
    const total = this.#totals.get(scope.kind === "thread" ? `thread:${scope.thread}` : `user:${scope.user}`);
    const holding = new Map<string, number>();
    for (const term of terms) {
      let held = 0;
      for (const row of this.#postings.get(term) ?? NONE) if (within(scope, row)) held += 1;
      holding.set(term, held);
    }
    return { entries: total?.entries ?? 0, totalLength: total?.totalLength ?? 0, holding };
  }

  async candidates(scope: Scope, request: CandidateRequest): Promise<IndexedDoc[]> {
    const rows = new Set<Row>();
    for (const seek of request.seeks) {
      for (const row of this.#seek(scope, seek)) {
        const { byOrdinal } = this.#threads.get(row.thread)!;
        for (let at = row.ordinal - request.reach; at <= row.ordinal + request.reach; at += 1) {
          const near = byOrdinal[at];
          if (near !== undefined && near.session === row.session) rows.add(near);
        }
      }
    }
    return [...rows].map((row) => asCandidate(row, request.terms));
  }

  #seek(scope: Scope, seek: Seek): Row[] {
    const lists = seek.all.map((term) => this.#postings.get(term) ?? NONE).sort((a, b) => a.size - b.size);
    const [shortest, ...others] = lists;
    const found: Row[] = [];
    for (const row of shortest ?? NONE) {
      if (within(scope, row) && others.every((list) => list.has(row))) found.push(row);
    }
    if (found.length <= seek.limit) return found;
    return found.sort(scope.kind === "thread" ? bySeq : byTime).slice(0, seek.limit);
  }

  #drop(thread: Thread, row: Row): void {
    thread.rows.delete(row.seq);
    thread.byOrdinal[row.ordinal] = undefined;
    this.#count(row, -1);
    for (const term of row.entry.terms.keys()) this.#postings.get(term)?.delete(row);
  }

  #count(row: Row, sign: 1 | -1): void {
    for (const key of [`thread:${row.thread}`, `user:${row.user}`]) {
      const total = this.#totals.get(key) ?? { entries: 0, totalLength: 0 };
      this.#totals.set(key, {
        entries: total.entries + sign,
        totalLength: total.totalLength + sign * row.entry.length,
      });
    }
  }
}

const NONE: ReadonlySet<Row> = new Set();

function within(scope: Scope, row: Row): boolean {
  return scope.kind === "thread" ? row.thread === scope.thread : row.user === scope.user;
}

function bySeq(a: Row, b: Row): number {
  return b.seq - a.seq;
}

function byTime(a: Row, b: Row): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  if (a.thread !== b.thread) return a.thread < b.thread ? -1 : 1;
  return b.seq - a.seq;
}

function asCandidate(row: Row, terms: readonly string[]): IndexedDoc {
  const { thread, seq, ordinal, session, at, entry } = row;
  const frequencies = terms.map((term) => entry.terms.get(term) ?? 0);
  return {
    thread,
    seq,
    ordinal,
    session,
    at,
    speaker: entry.speaker,
    length: entry.length,
    asks: entry.asks,
    frequencies,
  };
}
