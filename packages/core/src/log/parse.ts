/**
 * Reads a chained record back. Every past format version is accepted for ever; a newer one is refused with the record's
 * place and the way out, because guessing at it could show a wrong prompt.
 */
import { PalimpsestError } from "../errors.ts";
import { bodyField, type ChainedRecord, isRecordKind } from "./chain.ts";
import { FORMAT_VERSION, type LogRecord, type RecordHeader } from "./record.ts";

type RecordProblem = "newer-version" | "unreadable";

export class RecordError extends PalimpsestError<RecordProblem> {
  static override readonly kind = "RecordError";
  readonly seq: number;

  constructor(code: RecordProblem, seq: number, message: string, cause?: unknown) {
    super(code, message, { cause });
    this.seq = seq;
  }
}

type RecordText = Pick<ChainedRecord, "seq" | "header" | "body">;

/** Throws a `RecordError` that names the record. */
export function parseRecord(chained: RecordText): LogRecord {
  const fields = readFields(chained);
  const { kind, v } = fields;
  const field = v === 1 && kind === "state" ? null : bodyField(kind);
  // A message's body is kept as text, byte for byte; the other bodies are values of our own.
  if (field !== null) fields[field] = kind === "message" ? chained.body : readJson(chained.seq, chained.body);
  return fields as unknown as LogRecord;
}

/** What a record says beside its body, for readers that skip bodies. Throws a `RecordError` that names the record. */
export function parseHeader(chained: Omit<RecordText, "body">): RecordHeader {
  return readFields(chained) as unknown as RecordHeader;
}

type HeaderFields = Record<string, unknown> & Pick<LogRecord, "kind" | "v">;

function readFields(chained: Omit<RecordText, "body">): HeaderFields {
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

function readHeader(chained: Omit<RecordText, "body">): Record<string, unknown> {
  const fields = readJson(chained.seq, chained.header);
  if (typeof fields !== "object" || fields === null) throw unreadable(chained.seq, "its header is not an object");
  return fields as Record<string, unknown>;
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
