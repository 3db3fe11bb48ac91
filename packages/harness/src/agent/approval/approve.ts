/** A person's word on a call that waits, from any process that can reach the store; the next run acts on it. */
import { type Committed, commit, type Writer } from "../../thread/writer.ts";
import { type ApprovalAnswer, pendingIn, pendingPatch, withAnswer } from "./pending.ts";

export type Approved =
  /** `open`: ids of calls that nobody has answered yet. */
  | { readonly kind: "recorded"; readonly open: readonly string[] }
  | { readonly kind: "not-pending"; readonly callId: string }
  | Exclude<Committed, { kind: "committed" }>;

export async function approve(writer: Writer, given: ApprovalAnswer): Promise<Approved> {
  const { threadId } = writer.lease;
  const head = await writer.store.head(threadId);
  if (head === undefined) return { kind: "missing" };
  const list = withAnswer(pendingIn(head.state, threadId), threadId, given);
  if (list === null) return { kind: "not-pending", callId: given.callId };
  const committed = await commit(writer, [pendingPatch(list)]);
  if (committed.kind !== "committed") return committed;
  return { kind: "recorded", open: list.flatMap(({ id, answer }) => (answer === null ? [id] : [])) };
}
