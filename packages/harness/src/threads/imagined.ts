/**
 * A conversation that starts as a stored thread stands and goes on in memory only: what is committed to it is folded
 * into its view and written nowhere. For dry runs and for looking at a thread through another window.
 */
import {
  type LiveRecords,
  type LogRecord,
  liveAfter,
  liveRecords,
  type MessageRecord,
  view,
} from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import type { ThreadLoad } from "../stores/store.ts";
import { type Conversation, readBody } from "./conversation.ts";

export function imagineConversation<M>(load: ThreadLoad, shape: Shape<M>): Conversation<M> {
  let head = load.head;
  let live = liveRecords(
    head,
    load.records.map(({ record }) => record),
  );
  const messages = new Map<number, M>();
  const original = (record: MessageRecord): M => {
    const known = messages.get(record.seq) ?? readBody(record, shape);
    messages.set(record.seq, known);
    return known;
  };
  const viewOf = (records: LiveRecords) => view(records, { shape, read: original });
  const add = (record: LogRecord): void => {
    if (record.kind === "undo") throw new TypeError("an imagined conversation can't undo: it has no log to read");
    live = liveAfter(live, record);
    head = { ...head, version: record.seq };
    if (record.kind === "compaction") head = { ...head, compaction: record.seq, hiddenThrough: record.covers[1] };
    if (record.kind === "prune") head = { ...head, prunes: [...head.prunes, record.seq] };
  };
  return {
    header: load.header,
    shape,
    head: () => head,
    live: () => live,
    view: () => viewOf(live),
    viewOf,
    original,
    reload: async () => undefined,
    async commit(drafts) {
      const records = drafts.map((draft, index) => {
        const place = { v: 1, seq: head.version + 1 + index, at: head.updatedAt, runId: null };
        return { ...place, ...draft } as LogRecord;
      });
      for (const record of records) add(record);
      return { kind: "committed", head, seqs: records.map(({ seq }) => seq), records };
    },
  };
}
