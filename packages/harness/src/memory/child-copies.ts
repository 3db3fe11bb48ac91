/**
 * Where a sub-agent's thread repeats a message of its parent word for word: the task of a call as its first message, and
 * its last answer where the parent holds the result. Reads only.
 */
import type { MessageRecord } from "@palimpsest/core/log";
import { type Shape, shapeOf } from "@palimpsest/core/message";
import { delegationsOf } from "../subagents/delegations.ts";
import { messageTexts } from "../thread/redact.ts";
import type { ThreadDeps } from "../thread/writer.ts";

export interface ChildCopy {
  readonly threadId: string;
  readonly seq: number;
}

export async function childCopies({ store }: ThreadDeps, threadId: string, seq: number): Promise<ChildCopy[]> {
  const [message] = await messagesOf({ store }, threadId, [seq, seq]);
  const head = await store.head(threadId);
  if (message === undefined || head === undefined) return [];
  const shape = shapeOf(message.dialect) as Shape<unknown>;
  const value: unknown = JSON.parse(message.body);
  const [calls, answers] = [shape.calls(value), shape.answers(value)];
  const texts = messageTexts(message).map((text) => text.trim());
  const copies: ChildCopy[] = [];
  for (const { id, threadId } of delegationsOf(head.state)) {
    if (!calls.includes(id) && !answers.includes(id)) continue;
    const messages = await messagesOf({ store }, threadId);
    const same = messages.filter((one) => messageTexts(one).some((text) => texts.includes(text.trim())));
    // A long answer is cut for the parent, so that it is no longer the same.
    const last = answers.includes(id) ? messages.findLast(({ origin }) => origin === "model") : undefined;
    for (const one of new Set([...same, ...(last ? [last] : [])])) copies.push({ threadId, seq: one.seq });
  }
  return copies;
}

async function messagesOf(
  { store }: Pick<ThreadDeps, "store">,
  threadId: string,
  range?: readonly [number, number],
): Promise<MessageRecord[]> {
  const records: MessageRecord[] = [];
  for await (const { record } of store.records(threadId, { kinds: ["message"], ...(range && { range }) }))
    if (record.kind === "message") records.push(record);
  return records;
}
