/**
 * A run in a fork: an answer asked for again, or a message said anew. The thread stays as it is; the fork ends before what
 * is replaced, and the thread's state says that the conversation goes on there. Both under the thread's lease, so that no
 * run of the thread is passed by.
 */
import type { Leased } from "../../stores/leases.ts";
import type { Store } from "../../stores/store.ts";
import { fork, withWriter } from "../../thread/acts.ts";
import { continuedPatch } from "../../thread/current-thread.ts";
import { type FileCopier, forkWithFiles } from "../../thread/fork-files.ts";
import { commit, type ThreadDeps } from "../../thread/writer.ts";
import { AgentError } from "../errors.ts";
import type { RunInput } from "../execute.ts";
import type { Incoming } from "../incoming.ts";

import { questionSeq, saidSeq } from "./fork-point.ts";

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
