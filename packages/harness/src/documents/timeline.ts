/** A thread over time, as JSON: the tokens of every request, and each act on the log as a mark. Reads no message. */
import type { LogRecord } from "@palimpsest/core/log";
import type { Store } from "../stores/store.ts";

export async function timelineDocument(store: Store, threadId: string) {
  const requests: ReturnType<typeof requestOf>[] = [];
  const marks: Mark[] = [];
  const header = await store.header(threadId);
  if (header?.forkedAt != null) marks.push({ seq: header.forkedAt, at: header.createdAt, kind: "fork" });
  for await (const { record } of store.records(threadId, { kinds: KINDS })) {
    if (record.kind === "usage") requests.push(requestOf(record));
    else marks.push(markOf(record));
  }
  return { thread: threadId, requests, marks: marks.toSorted((a, b) => a.seq - b.seq) };
}

const KINDS = ["usage", "compaction", "prune", "undo", "pin", "evidence", "event"] as const;

interface Mark {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The record it is about. */
  readonly of?: number;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

function requestOf({ of, at, model, input, output, cacheRead, cacheWrite }: Extract<LogRecord, { kind: "usage" }>) {
  return {
    seq: of,
    at,
    model,
    input,
    output,
    cacheRead,
    cacheWrite,
  };
}

function markOf(record: LogRecord): Mark {
  const { seq, at, kind } = record;
  switch (record.kind) {
    case "compaction":
    case "prune":
      return { seq, at, kind, tokensBefore: record.tokensBefore, tokensAfter: record.tokensAfter };
    case "undo":
    case "evidence":
      return { seq, at, kind, of: record.of };
    case "pin":
      return { seq, at, kind: record.on ? "pin" : "unpin", of: record.target };
    case "event":
      return { seq, at, kind: record.event.type };
    default:
      return { seq, at, kind };
  }
}
