/**
 * The log of an open thread: everything written goes through `write`, in turn and under the lease, on the log as it
 * stands at that moment. Keeps the conversation in step with a log that others may write to as well.
 */
import { type Head, parseHeader } from "@palimpsest/core/log";
import type { AppendBatch } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";
import type { Committed, RecordInput } from "../threads/writer.ts";
import { gone, type Hold } from "./hold.ts";
import { ThreadError } from "./thread-error.ts";

/** What others have done to the log since: nothing, added to it, or changed what was there. */
export type Moved = "current" | "grown" | "reread";

/** Records, and what goes into the store with them. */
export interface Batch extends Pick<AppendBatch, "jobs" | "prompts"> {
  readonly inputs: readonly RecordInput[];
}

export interface OpenLog<M> {
  readonly conversation: Conversation<M>;
  /** Brings the conversation to where the log stands. Throws a `ThreadError` when the thread is gone. */
  catchUp(): Promise<Moved>;
  /**
   * All of a batch or none of it, made when its turn has come; returns the seqs. Throws a `ThreadError` when the thread
   * can't be had, is gone or was taken over.
   */
  write(make: (moved: Moved) => Batch | Promise<Batch>): Promise<readonly number[]>;
  /** Replaces bodies by others, for good. */
  erase(...args: Parameters<Conversation<M>["erase"]>): Promise<void>;
  /** Which message ids the log holds, and where: hidden messages, and a fork's shared ones, too. */
  ids(): Promise<ReadonlyMap<string, number>>;
  /** The conversation for a compactor: what it writes stands on the fold it was planned on, and `moved` hears how the log has. */
  onSameFold(moved: (how: Moved) => Promise<void>): Conversation<M>;
  close(): Promise<void>;
}

export function openLog<M>(hold: Hold, conversation: Conversation<M>): OpenLog<M> {
  const { id } = conversation.header;
  const { store } = hold.writer;
  let seqs = new Map<string, number>();
  let idsThrough = 0;
  const catchUp = async (): Promise<Moved> => {
    if (hold.held === "always") return "current";
    const moved = await conversation.catchUp();
    if (moved === "missing") return gone(id);
    if (moved === "reread") {
      seqs = new Map();
      idsThrough = 0;
    }
    return moved;
  };
  const seqsOf = async (committed: Committed): Promise<readonly number[]> => {
    if (committed.kind === "committed") return committed.seqs;
    if (committed.kind === "missing" || (await store.header(id)) === undefined) return gone(id);
    // Under the lease, right after catching up: only another holder can be in the way.
    const problem = `thread ${id} was taken over while it was written to: nothing was written, try again`;
    throw new ThreadError("lease-lost", problem);
  };
  return {
    conversation,
    catchUp,
    write: (make) =>
      hold.during(async () => {
        const { inputs, ...also } = await make(await catchUp());
        return inputs.length === 0 ? [] : seqsOf(await conversation.commit(inputs, also));
      }),
    async erase(bodies, inputs) {
      await hold.during(async () => seqsOf(await conversation.erase(bodies, inputs)));
    },
    async ids() {
      const { version } = conversation.head();
      if (version > idsThrough) {
        const query = { range: [idsThrough + 1, version], kinds: ["message"], bodies: "none" } as const;
        for await (const { chained } of store.records(id, query)) {
          const header = parseHeader(chained);
          if (header.kind === "message" && !seqs.has(header.id)) seqs.set(header.id, header.seq);
        }
        idsThrough = version;
      }
      return seqs;
    },
    onSameFold: (moved) => ({
      ...conversation,
      commit(inputs, also) {
        const planned = conversation.head();
        return hold.during(async () => {
          const how = await catchUp();
          await moved(how);
          const { version } = conversation.head();
          // Where words were erased, a summary may still hold them.
          if (how === "reread" || foldOf(planned) !== foldOf(conversation.head())) return { kind: "conflict", version };
          return conversation.commit(inputs, also);
        });
      },
    }),
    close: () => hold.close(),
  };
}

function foldOf({ compaction, hiddenThrough, prunes, undone }: Head): string {
  return JSON.stringify([compaction, hiddenThrough, prunes, undone]);
}
