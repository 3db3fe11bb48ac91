/**
 * The hash chain: `H(prev, header, bodyHash)`. The body's hash is chained and not the body, so one body can be erased
 * while the chain stays whole (docs/decisions/0001). Owns which fields of a record are erasable and how a record is
 * spelled; the spelling of a past format version never changes.
 */
import type { Head } from "./head.ts";
import { FORMAT_VERSION, type LogRecord, type NewRecord } from "./record.ts";

/** A digest of text, injected: core has no crypto. The same function must be used for the whole life of a log. */
export type Hash = (text: string) => string;

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

export function isRecordKind(kind: unknown): kind is LogRecord["kind"] {
  return typeof kind === "string" && Object.hasOwn(SPELLING, kind);
}

/** The field of this kind that holds its body. */
export function bodyField(kind: LogRecord["kind"]): string | null {
  return SPELLING[kind].body;
}

function headerText(record: NewRecord, seq: number): string {
  const fields = record as unknown as Readonly<Record<string, unknown>>;
  const { header, body } = SPELLING[record.kind];
  const first = ["v", "seq", "kind", "at", "runId", ...header];
  const rest = Object.keys(fields).filter((name) => name !== body && !first.includes(name));
  const values: Readonly<Record<string, unknown>> = { ...fields, v: versionOf(record), seq };
  return JSON.stringify(Object.fromEntries([...first, ...rest.sort()].map((name) => [name, values[name] ?? null])));
}

/** The oldest version whose readers understand the record: a thread stays readable for as many programs as it can. */
function versionOf(record: NewRecord): number {
  return record.kind === "message" && !DIALECTS_OF_3.includes(record.dialect) ? FORMAT_VERSION : 3;
}

/** What readers of version 3 know, for ever. */
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
