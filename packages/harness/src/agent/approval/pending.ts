/**
 * Calls that wait for a person's word, as the thread's state keeps them: which ones, and what was answered so far. The
 * arguments stay where they are, in the answer that makes the call, so that erasing it leaves no copy.
 */
import type { Head } from "@palimpsest/core/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/message";
import { readQuotes } from "../../compaction/summary-job.ts";
import type { Store } from "../../stores/store.ts";
import type { RecordInput } from "../../thread/writer.ts";
import { AgentError } from "../errors.ts";
import type { ClientCall } from "../events.ts";

export interface PendingCall {
  readonly id: string;
  readonly name: string;
  /** Seq of the answer that makes the call. */
  readonly of: number;
  /** Null: nobody has said anything yet. */
  readonly answer: "yes" | "no" | null;
  /** Why it was answered so; before that, why it is asked, where the agent says so. */
  readonly reason: string | null;
  /** Where it was answered. */
  readonly threadId?: string;
}

const KEY = "approvals";

/** An answer holds in its own thread: a fork asks anew, or one yes would run the call in each of them. */
export function pendingIn(state: Head["state"], threadId: string): readonly PendingCall[] {
  const list = state[KEY];
  if (!Array.isArray(list)) return [];
  return (list as PendingCall[]).map((call) =>
    call.answer === null || call.threadId === threadId ? call : { ...call, answer: null, reason: null },
  );
}

export function pendingPatch(list: readonly PendingCall[]): RecordInput {
  return { kind: "state", patch: { [KEY]: list } };
}

export interface ApprovalAnswer {
  readonly callId: string;
  readonly answer: "yes" | "no";
  readonly reason?: string | undefined;
}

/** Null when no such call of the thread waits. A later answer replaces an earlier one, as long as the call waits. */
export function withAnswer(
  list: readonly PendingCall[],
  threadId: string,
  given: ApprovalAnswer,
): readonly PendingCall[] | null {
  const { callId, answer, reason = null } = given;
  if (answer !== "yes" && answer !== "no")
    throw new AgentError("bad-message", `call ${callId} is answered "yes" or "no", not ${JSON.stringify(answer)}`);
  if (!list.some(({ id }) => id === callId)) return null;
  return list.map((call) => (call.id === callId ? { ...call, answer, reason, threadId } : call));
}

/** With the arguments the model gave; a call whose message is gone is left out. */
export async function callsOf(
  store: Store,
  threadId: string,
  pending: readonly PendingCall[],
): Promise<readonly (ClientCall & { readonly pending: PendingCall })[]> {
  const records = await readQuotes(store, threadId)([...new Set(pending.map(({ of }) => of))]);
  const parts = records.flatMap(({ body }) => aiSdkShape.parts(JSON.parse(body) as AiSdkMessage));
  return pending.flatMap((one) => {
    const part = parts.find((part) => part.kind === "call" && part.id === one.id);
    if (part?.kind !== "call") return [];
    return [{ id: one.id, name: one.name, input: JSON.parse(part.input) as unknown, pending: one }];
  });
}
