/**
 * A stored row as a `StoredRecord`, for every driver. The record is parsed when it is first asked for, so that `verify`
 * can read a damaged log to its end and name what is wrong instead of failing on it.
 */
import { type ChainedRecord, type LogRecord, parseRecord } from "@palimpsest/core/log";
import type { StoredRecord } from "./store.ts";

export function storedRecord(row: Omit<ChainedRecord, "at"> & { readonly redacted: boolean }): StoredRecord {
  const { redacted, ...rest } = row;
  let at: string | undefined;
  const chained: ChainedRecord = {
    ...rest,
    get at() {
      at ??= timeOf(row.header);
      return at;
    },
  };
  let record: LogRecord | undefined;
  return {
    chained,
    redacted,
    get record() {
      record ??= parseRecord(chained);
      return record;
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
