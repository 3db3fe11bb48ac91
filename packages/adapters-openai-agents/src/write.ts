/** Writes to a session's log, where what stands in the way is an error of the SDK's kind: nothing was written then. */
import { UserError } from "@openai/agents-core";
import { type Continuation, commit, continueThread, type NamedConversation } from "palimpsest/internal/threads";
import type { RecordInput, Writer } from "palimpsest/session";

/** All of it or nothing. */
export async function say(writer: Writer, inputs: readonly RecordInput[]): Promise<void> {
  if ((await commit(writer, inputs)).kind !== "committed") takenOver(writer);
}

export async function goOn(conversation: NamedConversation, writer: Writer, continuation: Continuation): Promise<void> {
  if ((await continueThread(conversation, writer, continuation)) === "lost") takenOver(writer);
}

function takenOver({ lease }: Writer): never {
  throw new UserError(
    `thread ${lease.threadId} was taken over while it was written to: nothing was written, try again`,
  );
}
