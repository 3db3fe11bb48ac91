/**
 * A run in a fork: an answer asked for again, or a message said anew. The thread stays as it is; the fork ends before what
 * is replaced, and the thread's state says that the conversation goes on there. Both under the thread's lease, so that no
 * run of the thread is passed by.
 */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import { readStored } from "@palimpsest/core/internal/message";
import type { Leased } from "../stores/leases.ts";
import type { Store } from "../stores/store.ts";
import { fork, withWriter } from "../thread/acts.ts";
import { continuedPatch, type FileCopier, forkWithFiles } from "../thread/handle.ts";
import { commit, type ThreadDeps } from "../thread/writer.ts";
import { AgentError } from "./errors.ts";
import type { RunInput } from "./execute.ts";
import type { Incoming } from "./input.ts";

export interface RegenerateInput<O = never> extends Omit<RunInput<O>, keyof Incoming | "threadId" | "agentName"> {
  readonly threadId: string;
  /** The answer, or the question it is for, as `useChat` names them; by default the last. */
  readonly messageId?: string | undefined;
  /** The fork's id; a new one unless given. */
  readonly as?: string | undefined;
}

/** With the new message as `prompt`, `messages` or `uiMessages`. */
export interface EditInput<O = never> extends Omit<RunInput<O>, "agentName"> {
  readonly threadId: string;
  /** What a person said, as `useChat` names it. The new message keeps this id. */
  readonly messageId: string;
  /** The fork's id; a new one unless given. */
  readonly as?: string | undefined;
}

export interface ForkOrder {
  readonly act: "regenerate" | "edit";
  readonly from: string;
  readonly messageId: string | undefined;
}

/** Makes the fork that a run goes on in. `missing`: there is no such thread. Throws where it can't be forked there. */
export async function forkForRun(
  deps: ThreadDeps,
  { act, from, messageId }: ForkOrder,
  { as, files }: { readonly as: string; readonly files: FileCopier | null },
): Promise<Leased<void>> {
  return withWriter(deps, from, async (writer) => {
    const at =
      act === "edit" ? await seqBefore(deps.store, from, messageId!) : await questionIn(deps.store, from, messageId);
    const options = { as, at };
    const forked = await (files === null ? fork(deps, from, options) : forkWithFiles(deps, from, options, files));
    if (forked.kind !== "forked")
      throw new AgentError("thread-exists", `there is a thread ${as} already: give another id`);
    const head = (await deps.store.head(from))!;
    await commit(writer, [{ kind: "state", patch: continuedPatch(from, head, as) }]);
  });
}

async function seqBefore(store: Store, threadId: string, messageId: string): Promise<number> {
  const seq = await saidSeq(store, threadId, messageId);
  if (seq === null)
    throw noMessage(threadId, `message ${messageId} that a person has said: only such a one can be edited`);
  return seq - 1;
}

async function questionIn(store: Store, threadId: string, messageId: string | undefined): Promise<number> {
  const seq = await questionSeq(store, threadId, messageId);
  if (seq === null)
    throw noMessage(threadId, messageId === undefined ? "question to answer again" : `message ${messageId}`);
  return seq;
}

function noMessage(threadId: string, what: string): AgentError {
  return new AgentError("no-message", `thread ${threadId} has no ${what}`);
}

// Where a thread is forked to ask for an answer again, or to say a message anew. Messages are named as `useChat`
// names them: what a person said by its record's id, an answer by its run. Reads from the end, since the newest is
// usually meant.

/** The seq of the question that an answer, by default the last, is for; of a question named itself, its own. Null: there is none. */
async function questionSeq(store: Store, threadId: string, messageId?: string): Promise<number | null> {
  let named = messageId === undefined;
  for await (const record of newestFirst(store, threadId)) {
    named ||= record.id === messageId || record.runId === messageId;
    if (named && isQuestion(record)) return record.seq;
  }
  return null;
}

/** The seq of what a person said, by its id. Null: it isn't there, or no person said it. */
async function saidSeq(store: Store, threadId: string, messageId: string): Promise<number | null> {
  for await (const record of newestFirst(store, threadId))
    if (record.id === messageId) return isQuestion(record) ? record.seq : null;
  return null;
}

/** What a person said, as a page shows it: not what the agent told itself, and no mere results of tools. */
export function isQuestion(record: MessageRecord): boolean {
  if (record.origin === "injected") return false;
  const { shape, message } = readStored(record);
  if (shape.role(message) !== "user") return false;
  return shape.parts(message).some(({ kind }) => kind !== "result");
}

/** Messages in pages from the end. */
export async function* newestFirst(store: Store, threadId: string): AsyncGenerator<MessageRecord> {
  const { version = 0 } = (await store.head(threadId)) ?? {};
  for (let end = version; end > 0; end -= PAGE) {
    const page: MessageRecord[] = [];
    const range = [Math.max(1, end - PAGE + 1), end] as const;
    for await (const { record } of store.records(threadId, { range, kinds: ["message"] }))
      if (record.kind === "message") page.push(record);
    yield* page.reverse();
  }
}

const PAGE = 100;
