/**
 * The hash chain: `H(prev, header, bodyHash)`. The body's hash is chained and not the body, so one body can be erased
 * while the chain stays whole (docs/decisions/0001). Owns which fields of a record are erasable and how a record is
 * spelled; the spelling of a past format version never changes.
 */

import { PalimpsestError } from "../errors.ts";
import { isRecord } from "../text/names.ts";
import type { Head } from "./head.ts";
import { type Chosen, FORMAT_VERSION, type LogRecord } from "./record.ts";

/** A digest of text, injected: core has no crypto. The same function must be used for the whole life of a log. */
export type Hash = (text: string) => string;

/** A record before the log gives it its place. */
export type NewRecord = LogRecord extends infer R ? (R extends LogRecord ? Omit<R, "v" | "seq"> : never) : never;

/** A record without its body. */
export type RecordHeader = LogRecord extends infer R
  ? R extends LogRecord
    ? Omit<R, "body" | "entries" | "summary" | "text" | "patch">
    : never
  : never;

/** A record with its place in the chain: the hash covers the header text and the body's hash, not the body. */
export interface ChainedRecord {
  readonly seq: number;
  readonly kind: LogRecord["kind"];
  readonly at: string;
  /** Canonical JSON of everything but the body. */
  readonly header: string;
  /** JSON text of what a redaction may erase; null when the kind has none. */
  readonly body: string | null;
  readonly bodyHash: string | null;
  readonly hash: string;
}

/** Gives new records their seq and hash. The head that follows from them is `advance`'s work. */
export function chain(
  head: Pick<Head, "version" | "hash">,
  records: readonly NewRecord[],
  hash: Hash,
): ChainedRecord[] {
  let seq = head.version;
  let previous = head.hash;
  return records.map((record) => {
    seq += 1;
    const header = headerText(record, seq);
    const body = bodyText(record);
    const bodyHash = body === null ? null : hash(body);
    previous = link(previous, header, bodyHash, hash);
    return {
      seq,
      kind: record.kind,
      at: record.at,
      header,
      body,
      bodyHash,
      hash: previous,
    };
  });
}

/** A header is JSON on one line and a body hash has no newline, so the three can't run into each other. */
export function link(previous: string, header: string, bodyHash: string | null, hash: Hash): string {
  return hash(`${previous}\n${header}\n${bodyHash ?? ""}`);
}

/** Each kind's erasable field, and the order of its header fields; fields not named here follow in alphabetical order. */
const SPELLING = {
  message: { header: ["id", "dialect", "origin"], body: "body" },
  prune: { header: ["tokensBefore", "tokensAfter"], body: "entries" },
  compaction: {
    header: [
      "covers",
      "folds",
      "request",
      "systems",
      "rung",
      "reason",
      "tokensBefore",
      "tokensAfter",
      "archive",
      "checkpoint",
    ],
    body: "summary",
  },
  pin: { header: ["target", "on"], body: null },
  undo: { header: ["of"], body: null },
  usage: {
    header: ["of", "model", "measured", "input", "output", "cacheRead", "cacheWrite", "factor", "flaw"],
    body: null,
  },
  evidence: { header: ["of", "ids", "hash"], body: "text" },
  state: { header: [], body: "patch" },
  event: { header: ["event"], body: null },
} as const satisfies Record<LogRecord["kind"], { header: readonly string[]; body: string | null }>;

function isRecordKind(kind: unknown): kind is LogRecord["kind"] {
  return typeof kind === "string" && Object.hasOwn(SPELLING, kind);
}

function headerText(record: NewRecord, seq: number): string {
  const fields: Readonly<Record<string, unknown>> = { ...record };
  const { header, body } = SPELLING[record.kind];
  const first = ["v", "seq", "kind", "at", "runId", ...header];
  const rest = Object.keys(fields).filter((name) => name !== body && !first.includes(name));
  const values: Readonly<Record<string, unknown>> = { ...fields, v: versionOf(record), seq };
  return JSON.stringify(Object.fromEntries([...first, ...rest.sort()].map((name) => [name, values[name] ?? null])));
}

/** The oldest version whose readers understand the record: a thread stays readable for as many programs as it can. */
function versionOf(record: NewRecord): number {
  switch (record.kind) {
    case "message":
      return DIALECTS_OF_3.includes(record.dialect) ? 3 : 4;
    case "prune":
      return record.entries.some(({ reason }) => CHOSEN.has(reason)) ? FORMAT_VERSION : 3;
    case "compaction":
      return record.rules === undefined ? 3 : FORMAT_VERSION;
    case "state":
      return "rules" in record.patch ? FORMAT_VERSION : 3;
    default:
      return 3;
  }
}

const CHOSEN: ReadonlySet<string> = new Set<Chosen>(["hidden", "folded", "reported", "edited"]);

/** Dialects of format version 3; must never change. */
const DIALECTS_OF_3: readonly string[] = ["openai", "anthropic", "ai-sdk"];

function bodyText(record: NewRecord): string | null {
  switch (record.kind) {
    case "message":
      return escapeLoneSurrogates(record.body);
    case "prune":
      return JSON.stringify(record.entries);
    case "compaction":
      return JSON.stringify(record.summary);
    case "evidence":
      return JSON.stringify(record.text);
    case "state":
      return JSON.stringify(record.patch);
    default:
      return null;
  }
}

/** UTF-8 can't hold half a surrogate pair; inside JSON its escape means the same, and every store can keep that. */
function escapeLoneSurrogates(json: string): string {
  if (json.isWellFormed()) return json;
  return json.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/*
 * Reads a chained record back. Every past format version stays readable; a newer one is refused with the record's
 * place and the way out, because guessing at it could show a wrong prompt.
 */

type RecordProblem = "newer-version" | "unreadable";

export class RecordError extends PalimpsestError<RecordProblem> {
  static override readonly kind = "RecordError";
  readonly seq: number;

  constructor(code: RecordProblem, seq: number, message: string, cause?: unknown) {
    super(code, message, { cause });
    this.seq = seq;
  }
}

type ChainedText = Pick<ChainedRecord, "seq" | "header" | "body">;

/** Throws a `RecordError` that names the record. */
export function parseRecord(chained: ChainedText): LogRecord {
  const fields = readFields(chained);
  const { kind } = fields;
  const field = SPELLING[kind].body;
  // A message's body is kept as text, byte for byte; the other bodies are values of our own.
  if (field !== null) fields[field] = kind === "message" ? chained.body : readJson(chained.seq, chained.body);
  return fields as unknown as LogRecord;
}

/** What a record says beside its body, for readers that skip bodies. Throws a `RecordError` that names the record. */
export function parseHeader(chained: Omit<ChainedText, "body">): RecordHeader {
  return readFields(chained) as unknown as RecordHeader;
}

type HeaderFields = Record<string, unknown> & Pick<LogRecord, "kind" | "v">;

function readFields(chained: Omit<ChainedText, "body">): HeaderFields {
  const fields = readHeader(chained);
  const { kind, v } = fields;
  if (typeof v === "number" && v > FORMAT_VERSION) {
    throw new RecordError(
      "newer-version",
      chained.seq,
      `record ${chained.seq} has format version ${v}, this program reads up to ${FORMAT_VERSION}: update palimpsest to read this thread`,
    );
  }
  if (!isRecordKind(kind)) {
    throw unreadable(chained.seq, `its kind ${JSON.stringify(kind)} is unknown`);
  }
  return fields as HeaderFields;
}

function readHeader(chained: Omit<ChainedText, "body">): Record<string, unknown> {
  const fields = readJson(chained.seq, chained.header);
  if (!isRecord(fields)) throw unreadable(chained.seq, "its header is not an object");
  return fields;
}

function readJson(seq: number, text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch (cause) {
    throw unreadable(seq, "its text is not JSON", cause);
  }
}

function unreadable(seq: number, why: string, cause?: unknown): RecordError {
  return new RecordError(
    "unreadable",
    seq,
    `record ${seq} can't be read: ${why}. Run "palimpsest verify" on the thread to see how far it is whole`,
    cause,
  );
}

/**
 * What may name a thread: its user and its id. A thread id becomes part of paths and URLs, so the rule is narrow on
 * purpose; a user's id comes from elsewhere and is taken as it is. Both are checked once, where they enter; nothing here
 * touches a file system.
 */

/** The owner of a thread that names no user. */
export const DEFAULT_USER = "default";

/** A header is one. */
export interface ThreadName {
  readonly user: string;
  readonly id: string;
}

const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export type ThreadIdCheck =
  | { readonly kind: "valid"; readonly id: string }
  | { readonly kind: "invalid"; readonly problem: string };

export function checkThreadId(id: string): ThreadIdCheck {
  // Programs in plain JavaScript may give anything.
  if (typeof id !== "string") return invalid(`a thread id is a text, and a ${typeof id} was given`);
  if (id === "") return invalid("a thread id can't be empty");
  if (id.length > 128) return invalid(`a thread id has at most 128 characters, this one has ${id.length}`);
  const shown = JSON.stringify(id);
  if (id.includes("..")) return invalid(`the thread id ${shown} contains "..": use single dots`);
  if (!THREAD_ID.test(id))
    return invalid(
      `the thread id ${shown} must start with a letter or digit and use only letters, digits, ".", "_", "-"`,
    );
  return { kind: "valid", id };
}

type UserCheck =
  | { readonly kind: "valid"; readonly userId: string }
  | { readonly kind: "invalid"; readonly problem: string };

/** Any id but an empty one, as far as both databases can keep it: an index row of PostgreSQL ends at 2,700 bytes. */
export function checkUser(userId: string): UserCheck {
  // Programs in plain JavaScript may give anything.
  if (typeof userId !== "string" || userId === "")
    return invalid("a user can't be empty and is a text: leave it out for the default user");
  const bytes = utf8Length(userId);
  if (bytes > 2000) return invalid(`a user's id takes at most 2,000 bytes as UTF-8, this one takes ${bytes}`);
  if (userId.includes("\0") || !userId.isWellFormed())
    return invalid(`the user ${JSON.stringify(userId)} holds a character that can't be stored`);
  return { kind: "valid", userId };
}

export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function invalid(problem: string): { readonly kind: "invalid"; readonly problem: string } {
  return { kind: "invalid", problem };
}
