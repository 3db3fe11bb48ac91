/** Finds entries of the search index by the record they are of. */
import type { Connection } from "./connection.ts";
import { integerAt } from "./rows.ts";

interface EntryPlace {
  readonly ordinal: number;
  readonly seq: number;
  readonly length: number;
}

/** The last entry up to a record. Seqs rise with ordinals, so it is found by halves and needs no index of its own. */
export function entryUpTo(connection: Connection, num: number, seq: number): EntryPlace | undefined {
  const ends = connection.get(
    "SELECT min(ordinal) AS low, max(ordinal) AS high FROM recall_entries WHERE num = ?",
    num,
  );
  if (ends?.["low"] === null) return undefined;
  let [low, high] = [integerAt(ends, "low"), integerAt(ends, "high")];
  let last: EntryPlace | undefined;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const sql =
      "SELECT ordinal, seq, length FROM recall_entries WHERE num = ? AND ordinal >= ? ORDER BY ordinal LIMIT 1";
    const row = connection.get(sql, num, middle);
    const entry = { ordinal: integerAt(row, "ordinal"), seq: integerAt(row, "seq"), length: integerAt(row, "length") };
    if (entry.seq > seq) high = middle - 1;
    else {
      last = entry;
      low = entry.ordinal + 1;
    }
  }
  return last;
}
