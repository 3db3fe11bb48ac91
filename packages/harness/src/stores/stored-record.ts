/**
 * A record as it is read from a row. Everything but its number is made when it is first asked for: a thread is opened by
 * reading all that it shows, hashes may have to be worked out, and `verify` reads a damaged log to its end.
 */
import { type ChainedRecord, type LogRecord, parseRecord } from "@palimpsest/core/log";
import type { StoredRecord } from "./store.ts";

/** A stored row as a `StoredRecord`. */
export function storedRecord(row: Omit<ChainedRecord, "at"> & { readonly redacted: boolean }): StoredRecord {
  return recordWith(row, row);
}

/** The same, for a store that works hashes out: the text is asked for them only when somebody needs them. */
export function recordWith(place: RecordPlace, text: RecordText): StoredRecord {
  return new ReadRecord(place, text);
}

/** The number of a record, without making anything else of it. */
export function seqOf(stored: StoredRecord): number {
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
  try {
    return (JSON.parse(header) as { at: string }).at;
  } catch {
    return "";
  }
}
