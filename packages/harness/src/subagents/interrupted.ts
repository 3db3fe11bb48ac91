/**
 * After a crash: children that a parent's state still calls running can't be, because a child runs only inside a run of
 * its parent, and whoever holds the parent's thread knows there is none. They are marked interrupted; each can be continued.
 */
import type { Head } from "@palimpsest/core/log";
import { everyThread } from "../stores/users.ts";
import { withWriter } from "../thread/acts.ts";
import { commit, type RecordInput, type ThreadDeps } from "../thread/writer.ts";
import { delegationsOf, running, withDelegation } from "./delegations.ts";

/** Nothing when none was left running. Call it only while holding the thread, before any child is started. */
export function interruptedRecords({ state }: Head): RecordInput[] {
  const list = delegationsOf(state);
  const left = running(list);
  if (left.length === 0) return [];
  const delegations = left.reduce((all, one) => withDelegation(all, { ...one, status: "interrupted" }), list);
  const receipts = left.map(({ threadId, id: callId, agent }): RecordInput => {
    const reason = "the run that asked for it ended without an end: the process was killed or lost the thread";
    return {
      kind: "event",
      event: { type: "subagent-end", threadId, callId, agent, status: "interrupted", reason },
    };
  });
  return [{ kind: "state", patch: { delegations } }, ...receipts];
}

/** For the start of a program: every parent of a child of this user, as far as no run holds it. Returns the children marked. */
export async function settleInterrupted(deps: ThreadDeps): Promise<readonly string[]> {
  const marked: string[] = [];
  for (const parent of await parents(deps)) {
    const head = await deps.store.head(parent);
    if (head === undefined || interruptedRecords(head).length === 0) continue;
    const settled = await withWriter(deps, parent, async (writer) => {
      const now = await deps.store.head(parent);
      const inputs = now === undefined ? [] : interruptedRecords(now);
      const left = now === undefined ? [] : running(delegationsOf(now.state));
      const done = inputs.length > 0 && (await commit(writer, inputs)).kind === "committed";
      return done ? left.map(({ threadId }) => threadId) : [];
    });
    if (settled.kind === "done") marked.push(...settled.value);
  }
  return marked;
}

async function parents({ store }: ThreadDeps): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { header } of everyThread(store, { kind: "subagent" }))
    if (header.parent !== null) found.add(header.parent);
  return found;
}
