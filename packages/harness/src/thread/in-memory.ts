/**
 * A conversation that goes on in memory only: what is committed is folded into its view and written nowhere. For dry runs,
 * for looking at a thread through another window, for callers that keep the messages themselves, and for simulations.
 */
import { liveAfter, view, viewAfter } from "@palimpsest/core/internal/log";
import {
  FORMAT_VERSION,
  type Folded,
  type Head,
  type Json,
  type LiveRecords,
  type LogRecord,
  type MessageRecord,
  type ThreadHeader,
  type ViewEntry,
  type ViewOptions,
} from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import type { Conversation } from "./conversation.ts";

export interface InMemoryOptions<M> {
  readonly header: ThreadHeader;
  readonly shape: Shape<M>;
  /** Where it starts. */
  readonly head: Head;
  readonly live: LiveRecords;
  /** A message as it was given. */
  readonly original: (record: MessageRecord) => M;
  /** The number of the next record; one more than the last unless told. */
  readonly nextSeq?: (head: Head) => number;
  /** The whole state of the compaction that stands at the start; without it the record itself has it. */
  readonly state?: () => Promise<Json>;
}

export function inMemoryConversation<M>(options: InMemoryOptions<M>): Conversation<M> {
  const { header, shape, original, nextSeq = ({ version }) => version + 1 } = options;
  let { head, live } = options;
  const shown = foldingView({ shape, read: original });
  const viewOf = (records: LiveRecords) => view(records, { shape, read: original });
  const add = (record: LogRecord): void => {
    if (record.kind === "undo") throw new TypeError("a conversation in memory can't undo: it keeps no log");
    live = liveAfter(live, record);
    head = { ...head, version: record.seq };
    if (record.kind === "compaction") head = { ...head, compaction: record.seq, hiddenThrough: record.covers[1] };
    if (record.kind === "prune") head = { ...head, prunes: live.prunes.map(({ seq }) => seq) };
  };
  return {
    header,
    shape,
    viewOf,
    original,
    head: () => head,
    live: () => live,
    view: () => shown(live),
    reload: async () => undefined,
    catchUp: async () => "current",
    async state() {
      // What is committed here keeps its state whole.
      const stands = live.compaction !== null && live.compaction === options.live.compaction;
      if (stands && options.state !== undefined) return options.state();
      return (live.compaction?.summary.state ?? null) as Json;
    },
    // Nothing is written anywhere.
    erase: async () => ({ kind: "committed", head, seqs: [] }),
    async commit(inputs) {
      const records = inputs.map((input) => {
        const record = {
          v: FORMAT_VERSION,
          seq: nextSeq(head),
          at: head.updatedAt,
          runId: null,
          ...input,
        } as LogRecord;
        add(record);
        return record;
      });
      return { kind: "committed", head, seqs: records.map(({ seq }) => seq), records };
    },
  };
}

/** For a conversation that is no stored thread. */
export const NO_THREAD: ThreadHeader = {
  id: "memory",
  user: "default",
  agent: "default",
  parent: null,
  forkedAt: null,
  kind: "main",
  createdAt: "1970-01-01T00:00:00.000Z",
  memory: "off",
};

// The view of a conversation's live records: folded forward from the one before it, and kept until they change.

/** `before`: a view to go on from. */
export function foldingView<M>(
  options: ViewOptions<M>,
  before: Folded<M> | null = null,
): (live: LiveRecords) => readonly ViewEntry<M>[] {
  let folded = before;
  return (live) => {
    if (folded?.live !== live) {
      const entries = folded === null ? view(live, options) : viewAfter(folded, live, options);
      folded = { live, entries };
    }
    return folded.entries;
  };
}
