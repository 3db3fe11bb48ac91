/**
 * The records of one thread while its pieces come in, in the order a live thread would have written them. Says which
 * record each message is, so that a fork knows where it begins; what is in the store already is passed over.
 */
import type { Hash, UsageRecord } from "@palimpsest/core/internal/log";
import { type Dialect, shapeOf } from "@palimpsest/core/internal/message";
import type { Usage } from "../models/facts.ts";
import { type TitleLimits, titleOf } from "../thread/title.ts";
import type { RecordInput } from "../thread/writer.ts";
import { type Gatherer, gatherer } from "./gather.ts";
import type { ImportedThread, ThreadPiece } from "./piece.ts";

export interface DraftOptions {
  readonly dialect: Dialect;
  readonly ids: () => string;
  readonly hash?: Hash | undefined;
  /** What the store has of it. */
  readonly stored: Stored;
  /** The thread it leaves, if it is a fork. */
  readonly parent?: ThreadDraft | undefined;
}

export interface Stored {
  /** Records in all. */
  readonly version: number;
  /** Seqs of the records that hold its messages. */
  readonly seqs: readonly number[];
  /** The hashes of their texts, where the file may say something else by now. */
  readonly hashes?: readonly string[];
  /** How many of its own pieces are in it. */
  readonly pieces: number;
}

/** The file no longer says what the store has: from which message on, and after how many pieces. */
export interface Divergence {
  readonly message: number;
  readonly pieces: number;
}

export const NOTHING_STORED: Stored = { version: 0, seqs: [], pieces: 0 };

export class ThreadDraft {
  readonly opened: ImportedThread;
  readonly #dialect: Dialect;
  readonly #ids: () => string;
  readonly #gather: Gatherer;
  readonly #judge = reportJudge();
  readonly #parent: ThreadDraft | undefined;
  /** Per message of its own in the file, in order: the record that holds it. */
  readonly #seqs: number[] = [];
  /** Records of its own messages that the store has, in order. */
  readonly #known: readonly number[];
  readonly #hashes: readonly string[] | undefined;
  readonly #hash: Hash | undefined;
  #knownSeen = 0;
  #divergence: Divergence | null = null;
  /** How many messages it shares with its parent. */
  readonly #shared: number;
  /** Pieces that are stored, and pieces that have come. */
  readonly #stored: number;
  #seen = 0;
  #version: number;
  #records: RecordInput[] = [];
  #length = 0;
  #title: string | null;
  #firstWords = "";

  constructor(opened: ImportedThread, { dialect, ids, hash, stored, parent }: DraftOptions) {
    this.opened = opened;
    this.#dialect = dialect;
    this.#ids = ids;
    this.#gather = gatherer(dialect);
    this.#parent = parent;
    this.#shared = parent === undefined ? 0 : (opened.fork?.after ?? 0);
    this.#known = stored.seqs;
    this.#hashes = stored.hashes;
    this.#hash = hash;
    this.#stored = stored.pieces;
    this.#version = stored.version;
    this.#title = opened.title;
    if (stored.pieces === 0 && opened.request !== null)
      this.#push({ kind: "state", patch: { request: opened.request } });
  }

  /** Characters of messages that wait to be written. */
  get length(): number {
    return this.#length;
  }

  /** Records that wait to be written. */
  get waiting(): number {
    return this.#records.length;
  }

  /** The record that those come after which wait. */
  get base(): number {
    return this.#version - this.#records.length;
  }

  get divergence(): Divergence | null {
    return this.#divergence;
  }

  /** How many of its pieces are stored once the records that wait are written. */
  get pieces(): number {
    return Math.max(this.#seen, this.#stored);
  }

  /** The record after which so many messages have been said. */
  seqAfter(messages: number): number {
    if (messages <= this.#shared || this.#seqs.length === 0) return this.#parent?.seqAfter(messages) ?? 0;
    return this.#seqs[messages - this.#shared - 1] ?? this.#seqs.at(-1)!;
  }

  add(piece: ThreadPiece): void {
    for (const one of this.#gather.add(piece)) this.#take(one);
  }

  /** Nothing more comes. */
  end(): void {
    for (const one of this.#gather.end()) this.#take(one);
  }

  /** Words that name the thread; empty: there are none. */
  title(limits: TitleLimits | null): string {
    return limits === null ? "" : titleOf(this.#title ?? this.#firstWords, limits);
  }

  /** What is to be written now: it counts as written. */
  takeRecords(): readonly RecordInput[] {
    const records = this.#records;
    this.#records = [];
    this.#length = 0;
    return records;
  }

  /** Where a fork begins: what waits comes after so many records. */
  standAt(version: number): void {
    const before = this.#version - this.#records.length;
    this.#version = version + this.#records.length;
    const moved = version - before;
    for (const [index, record] of this.#records.entries())
      if (record.kind === "usage") this.#records[index] = { ...record, of: record.of + moved };
    for (const [index, seq] of this.#seqs.entries()) this.#seqs[index] = seq + moved;
  }

  /** Records that are written with it beside its own. */
  passRecords(count: number): void {
    this.#version += count;
  }

  #take(piece: ThreadPiece): void {
    if (this.#divergence !== null) return;
    this.#seen += 1;
    const isStored = this.#seen <= this.#stored;
    if (piece.kind === "message" && !this.#agrees(piece.message.body, isStored)) {
      this.#divergence = { message: this.#knownSeen, pieces: this.#seen - 1 };
      return;
    }
    if (piece.kind === "message") this.#message(piece, isStored);
    else if (piece.kind === "title") this.#title = piece.title;
    else if (piece.kind === "mark" && !isStored) this.#push({ kind: "event", event: piece.event });
    else if (piece.kind === "usage") this.#usage(piece, this.#seqs.at(-1), isStored);
  }

  /** Whether the store has this message at this place, or no message there. */
  #agrees(body: string, isStored: boolean): boolean {
    if (this.#hashes === undefined || this.#hash === undefined) return true;
    const stored = this.#hashes[this.#knownSeen];
    return isStored ? stored === this.#hash(body) : this.#knownSeen >= this.#hashes.length;
  }

  #message({ message, of = 1 }: MessagePiece, isStored: boolean): void {
    const { body, at, usage, model, value } = message;
    if (this.#firstWords === "") this.#firstWords = userWords(value, this.#dialect);
    if (!isStored) {
      const time = at === null ? {} : { at };
      this.#push({ kind: "message", id: this.#ids(), dialect: this.#dialect, origin: "import", body, ...time });
      this.#length += body.length;
    }
    const seq = isStored ? (this.#known[this.#knownSeen++] ?? this.#seqs.at(-1) ?? 0) : this.#version;
    for (let count = 0; count < of; count += 1) this.#seqs.push(seq);
    if (usage !== null) this.#usage({ usage, model, at }, seq, isStored);
  }

  #usage(
    report: { readonly usage: Usage; readonly model: string | null; readonly at?: string | null },
    of: number | undefined,
    isStored: boolean,
  ): void {
    const { usage, model, at = null } = report;
    const flaw = this.#judge(usage);
    if (of === undefined || isStored) return;
    this.#push({
      kind: "usage",
      ...(at !== null && { at }),
      of,
      model: model ?? "unknown",
      measured: { compaction: null, prune: null, promptHash: null },
      ...usage,
      factor: null,
      flaw,
    });
  }

  #push(record: RecordInput): void {
    this.#records.push(record);
    this.#version += 1;
  }
}

type MessagePiece = Extract<ThreadPiece, { readonly kind: "message" }>;

/** The text of a user message; empty for other roles. */
function userWords(value: object, dialect: Dialect): string {
  // One table of functions per dialect; the message was checked to be in this one.
  const shape = shapeOf<object>(dialect);
  if (shape.role(value) !== "user") return "";
  const words = shape.parts(value).map((part) => (part.kind === "text" ? part.text : ""));
  return words.join("").trim() === "" ? "" : words.join(" ");
}

/**
 * Reports are kept, but two kinds must not anchor a count: zeros, and everything after the source shortened its prompt
 * (a compaction of its own): those measured a prompt that this log doesn't hold.
 */
function reportJudge(): (usage: Usage) => NonNullable<UsageRecord["flaw"]> | null {
  let largest = 0;
  let shortened = false;
  return ({ input }) => {
    if (input === 0) return "zero";
    shortened ||= input < largest * SHORTENED;
    largest = Math.max(largest, input);
    return shortened ? "implausible" : null;
  };
}

/** A prompt that only grows never reports this little of what it once did. */
const SHORTENED = 0.7;
