/**
 * What a store keeps for search: an inverted index in plain tables, and nothing that knows what a term means. Entries of
 * a thread are numbered (`ordinal`), a fixed number of them makes a block, and one posting row holds a term's places in one block.
 * Filling and reading it is `recall/`; a driver stores rows and forgets them with the records they came from.
 */
import type { Placement } from "@palimpsest/core/internal/recall";
import { type MergedPosting, readNumber, spellNumber } from "./posting-text.ts";
import type { Store } from "./store.ts";

/** A store that has them. */
export type SearchableStore = Store & Required<Pick<Store, "search">>;

export interface SearchTables {
  /**
   * Entries in a block, at most 4,096. Larger ones are read faster and written slower, as a batch writes the rows of its
   * terms anew; each engine has its own best.
   */
  readonly blockSize: number;
  /** The thread and, for a fork, those it reads from, oldest first. Nothing for a missing thread. */
  lineage(threadId: string): Promise<readonly IndexedSegment[]>;
  /** Every thread of the user, each with its own entries only: as many rows as there are threads. */
  ofUser(): Promise<readonly IndexedSegment[]>;
  /** The index over all threads of the user, in a few rows, however many threads there are. */
  user(): Promise<UserIndex>;
  readonly pool: PostingPool;
  /**
   * Threads of all users whose index lacks at least so many records, some after the mark of the page before; a last page has
   * no mark. Without it only what is searched is built in the background.
   */
  late?(records: number, after: string | null): Promise<LateThreads>;
  /** All of the batch or nothing, if the index still stands at `expect` and none of the entries was erased meanwhile. */
  write(threadId: string, batch: IndexBatch): Promise<"written" | "conflict" | "missing">;
  /** Forgets the thread's index; it is filled again when it is next needed. */
  clear(threadId: string): Promise<void>;
  /** For a driver that writes in small blocks and reads in large ones. Results are the same with and without it. */
  readonly merging?: BlockMerging;
  /** Every list of the terms there, by single blocks. */
  postings(spans: readonly Span[], terms: readonly string[]): Promise<readonly Posting[]>;
  /** Entries and the sum of their lengths, through an ordinal. */
  totals(threadId: string, through: number): Promise<{ readonly entries: number; readonly length: number }>;
  /** Each entry of the ranges; they don't overlap. */
  entries(ranges: readonly OrdinalRange[]): Promise<readonly SearchEntry[]>;
  /** What an embedder made of entries; forgotten with them. Without it an embedder isn't asked. */
  readonly vectors?: VectorTable;
}

/**
 * Blocks that the small threads of a user share: a search over all of them reads a row a term for hundreds of threads. All
 * entries of a thread have places there (slots), or it has blocks of its own.
 */
export interface PostingPool {
  /** A thread with more own entries than this has blocks of its own. */
  readonly most: number;
  /** Slots for so many entries of the thread from `ordinal` on, made if they aren't there. Nothing for a missing thread. */
  reserve(threadId: string, ordinal: number, count: number): Promise<readonly Slot[]>;
  /** Forgets the thread's index, and its slots, but not its vectors: it is filled again elsewhere. */
  leave(threadId: string): Promise<void>;
  /** Every slot of each thread that has one of the places. */
  locate(places: readonly number[]): Promise<readonly Slot[]>;
}

/** Places of the pool, one behind the other, for as many ordinals of a thread. */
export interface Slot {
  readonly threadId: string;
  readonly ordinal: number;
  /** The place of the first one. */
  readonly first: number;
  readonly size: number;
}

/** Stands for the thread where a row is one of the pool's: no thread has an empty id. */
export const POOL = "";

export interface UserIndex {
  /** All entries of the user, and the sum of their lengths. */
  readonly entries: number;
  readonly length: number;
  /** The pool's blocks from `from` on, before `before`, each with the time of the last message of the last thread in it. */
  readonly from: number;
  readonly before: number;
  readonly times: ReadonlyMap<number, string>;
  /** Threads with blocks of their own. */
  readonly large: readonly IndexedSegment[];
  /** Threads whose index lacks records. */
  readonly late: readonly IndexedSegment[];
}

/** Vectors of one embedder for each thread, a byte for each number. Another embedder's take the place of all that were there. */
export interface VectorTable {
  /** Own entries that have none of this embedder yet, oldest first, and the seq through which all were asked for. */
  pending(threadId: string, embedder: EmbedderName, limit: number): Promise<PendingVectors>;
  /** `conflict`: somebody else has written since `expect`. An entry that was erased meanwhile gets none. */
  write(threadId: string, batch: VectorBatch): Promise<"written" | "conflict" | "missing">;
  /** Those there are of this embedder. */
  read(
    embedder: Required<EmbedderName>,
    places: readonly Pick<SearchEntry, "threadId" | "seq">[],
  ): Promise<readonly StoredVector[]>;
}

export interface EmbedderName {
  readonly model: string;
  /** How many numbers its vectors have, once that is known. */
  readonly dimension?: number | undefined;
}

interface PendingVectors {
  readonly through: number;
  readonly seqs: readonly number[];
}

export interface VectorBatch {
  readonly embedder: Required<EmbedderName>;
  readonly expect: number;
  readonly through: number;
  readonly vectors: readonly Omit<StoredVector, "threadId">[];
}

export interface StoredVector {
  readonly threadId: string;
  readonly seq: number;
  readonly vector: Int8Array;
}

export interface BlockMerging {
  /** So many blocks that will not change any more become one. */
  readonly blocks: number;
  /** `filler`: the one that fills the index merges what is full, and writes whole parts as such; `job`: it takes long and is left to the background. */
  readonly by: "filler" | "job";
  /** A thread with fewer full blocks is read as fast as it is. */
  readonly from?: number;
  /** One step, if there is one to do. */
  merge(threadId: string): Promise<"merged" | "nothing">;
  /** What rows there are: with their lists where those are short, or with all that aren't split. */
  counts(
    spans: readonly Span[],
    terms: readonly string[],
    lists: "short" | "all",
  ): Promise<readonly (PostingCount | Posting)[]>;
  /** Rows by their places, as far as they are still there. */
  lists(places: readonly PostingPlace[]): Promise<readonly Posting[]>;
}

export interface LateThreads {
  readonly threads: readonly { readonly userId: string; readonly threadId: string }[];
  /** Pass as `after` for the next page; null at the end. */
  readonly next: string | null;
}

/** One thread's part of a scope, and how far its index has come. */
export interface IndexedSegment {
  readonly threadId: string;
  /** The last seq that belongs to the scope; the thread's own last one for a whole thread. */
  readonly through: number;
  /** The last ordinal that belongs to it, as far as it is indexed; null when all do. */
  readonly cut: number | null;
  /** Records up to here are indexed. */
  readonly indexed: number;
  /** Where its newest own entry stands. */
  readonly newest: Placement | null;
  /** Own entries, and the sum of their lengths. */
  readonly entries: number;
  readonly length: number;
  /** Blocks that are merged; 0 unless told. */
  readonly merged?: number;
  /** Its places in the pool, ascending; some may still be free. None: it has blocks of its own. */
  readonly slots?: readonly Slot[];
}

export interface OrdinalRange {
  readonly threadId: string;
  readonly first: number;
  readonly last: number;
}

/** The blocks of a thread, or of the pool, before `before`. */
export interface Span {
  readonly threadId: string;
  /** The first of them; 0 unless told. */
  readonly from?: number;
  readonly before: number;
}

export interface IndexBatch {
  readonly expect: number;
  readonly indexed: number;
  readonly newest: Placement | null;
  readonly entries: readonly Omit<SearchEntry, "threadId">[];
  readonly postings: readonly NewPosting[];
  /** The postings are of these places of the pool. */
  readonly slots?: readonly Slot[] | undefined;
  /** All postings of a part, the next to be merged, of whose blocks nothing is there yet: then there are no others. */
  readonly part?: readonly MergedPosting[];
}

export interface NewPosting {
  readonly term: string;
  readonly block: number;
  readonly count: number;
  /** Appended to what the row holds. */
  readonly list: string;
}

/** One row: a term in one block, or in as many from `block` on as are merged. */
export interface PostingPlace {
  readonly threadId: string;
  readonly term: string;
  readonly block: number;
  readonly blocks: number;
}

export interface PostingCount extends PostingPlace {
  readonly count: number;
  /** Of merged blocks: the lists are long and stand in the single blocks, to be read one by one. */
  readonly split?: boolean;
}

export interface Posting extends PostingCount {
  readonly list: string;
}

export interface SearchEntry {
  readonly threadId: string;
  readonly ordinal: number;
  readonly seq: number;
  readonly session: number;
  readonly at: string;
  readonly speaker: string;
  readonly length: number;
  readonly asks: boolean;
}

/**
 * What a store keeps of an entry beside its columns, as one text: `[ordinal,seq,length,REST]` is an entry, read with many others
 * at once, because taking rows apart is most of what reading them costs. Of nearly all entries the rest is a few digits of base 64:
 * one for speaker and question, seven for the time, the session's; of others, and of those of before, a list. The oldest entries
 * are one list, with words for time and speaker.
 */
export function packRest(entry: Omit<SearchEntry, "threadId">): string {
  const [session, at, speaker, asks] = restOf(entry);
  if (typeof at === "string" || at < 0 || at >= LATEST || typeof speaker === "string")
    return JSON.stringify([session, at, speaker, asks]).slice(1, -1);
  return spellNumber(speaker + 2 * Number(asks)) + spellNumber(at).padStart(TIME_DIGITS, "0") + spellNumber(session);
}

const TIME_DIGITS = 7;
const LATEST = 64 ** TIME_DIGITS;

function unpackRest(text: string): PackedRest {
  const first = readNumber(text, 0, 1);
  const session = readNumber(text, 1 + TIME_DIGITS, text.length);
  return [session, readNumber(text, 1, 1 + TIME_DIGITS), first & 1, first >> 1];
}

function restOf({ session, at, speaker, asks }: Omit<SearchEntry, "threadId">): PackedRest {
  const ms = Date.parse(at);
  const time = !Number.isNaN(ms) && new Date(ms).toISOString() === at ? ms : at;
  const known = SPEAKERS.indexOf(speaker);
  return [session, time, known === -1 ? speaker : known, asks ? 1 : 0];
}

/** Their numbers are in the tables. */
const SPEAKERS: readonly string[] = ["user", "assistant"];

type PackedRest = [session: number, at: string | number, speaker: string | number, asks: boolean | number];
type PackedEntry = [number, number, number, PackedRest | string] | [number, number, ...WithLength];
type WithLength = [
  session: number,
  at: string | number,
  speaker: string | number,
  length: number,
  asks: boolean | number,
];

/** Packed entries of one thread, with commas between them. */
export function unpackEntries(threadId: string, packed: string): SearchEntry[] {
  const rows = JSON.parse(`[${packed}]`) as PackedEntry[];
  const spell = timeSpeller();
  return rows.map((row) => {
    const length = row.length === 4 ? row[2] : row[5];
    const [session, at, speaker, asks] = row.length === 4 ? restIn(row[3]) : [row[2], row[3], row[4], row[6]];
    return {
      threadId,
      ordinal: row[0],
      seq: row[1],
      session,
      at: typeof at === "string" ? at : spell(at),
      speaker: typeof speaker === "string" ? speaker : SPEAKERS[speaker]!,
      length,
      asks: asks === true || asks === 1,
    };
  });
}

const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));
const MINUTES = Array.from({ length: 1440 }, (_, minute) => `${TWO[Math.floor(minute / 60)]}:${TWO[minute % 60]}:`);
const THOUSANDTHS = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, "0")}Z`);

/** As `toISOString` does. A search spells thousands of times, nearly each of the same day as the one before. */
export function timeSpeller(): (ms: number) => string {
  let [day, date] = [Number.NaN, ""];
  return (ms) => {
    const own = Math.floor(ms / DAY_MS);
    if (own !== day) [day, date] = [own, new Date(own * DAY_MS).toISOString().slice(0, -"00:00:00.000Z".length)];
    const rest = ms - own * DAY_MS;
    const seconds = Math.floor(rest / 1000);
    return date + MINUTES[Math.floor(seconds / 60)]! + TWO[seconds % 60]! + THOUSANDTHS[rest % 1000]!;
  };
}

function restIn(rest: PackedRest | string): PackedRest {
  return typeof rest === "string" ? unpackRest(rest) : rest;
}
