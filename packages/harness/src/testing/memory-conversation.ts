/**
 * A conversation that lives in memory only: the same fold, no store. For simulations, playbacks and property tests that
 * run hundreds of thousands of steps.
 */
import {
  emptyHead,
  type LiveRecords,
  type LogRecord,
  liveAfter,
  type MessageRecord,
  NOTHING_LIVE,
  type ThreadHeader,
  view,
} from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import type { PlayedThread } from "./playback.ts";

const HEADER: ThreadHeader = {
  id: "memory",
  user: "default",
  agent: "default",
  parent: null,
  forkedAt: null,
  kind: "main",
  createdAt: "1970-01-01T00:00:00.000Z",
  memory: "off",
};

export function memoryConversation<M>(shape: Shape<M>): PlayedThread<M> {
  const messages = new Map<number, M>();
  let live: LiveRecords = NOTHING_LIVE;
  let head = emptyHead(HEADER.createdAt);
  const original = (record: MessageRecord): M => messages.get(record.seq)!;
  const viewOf = (records: LiveRecords) => view(records, { shape, read: original });
  const add = (record: LogRecord): void => {
    if (record.kind === "undo") throw new TypeError("a conversation in memory can't undo: it keeps no log");
    live = liveAfter(live, record);
    const hides = record.kind === "compaction";
    head = {
      ...head,
      version: record.seq,
      ...(hides ? { compaction: record.seq, hiddenThrough: record.covers[1] } : {}),
    };
  };
  const stamp = () => ({ v: 1, seq: head.version + 1, at: HEADER.createdAt, runId: null });
  return {
    header: HEADER,
    shape,
    head: () => head,
    live: () => live,
    view: () => viewOf(live),
    viewOf,
    original,
    reload: async () => undefined,
    async say(message) {
      const common = stamp();
      messages.set(common.seq, message);
      add({ ...common, kind: "message", id: `m${common.seq}`, dialect: shape.dialect, origin: "import", body: "" });
    },
    said: async () => [...messages.values()].map((message) => JSON.stringify(message)),
    async commit(drafts) {
      const seqs = drafts.map((draft) => {
        const record = { ...stamp(), ...draft } as LogRecord;
        add(record);
        return record.seq;
      });
      return { kind: "committed", head, seqs };
    },
  };
}
