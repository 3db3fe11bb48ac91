/** The words of stored messages, in any dialect. */
import type { MessageRecord } from "@palimpsest/core/log";
import { shapeOf } from "@palimpsest/core/message";
import type { ChatSession } from "./session.ts";

export interface Words {
  readonly role: string;
  readonly text: string;
}

export function wordsOf({ dialect, body }: Pick<MessageRecord, "dialect" | "body">): Words {
  const shape = shapeOf(dialect);
  const message = JSON.parse(body) as never;
  const texts = shape.parts(message).flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return { role: shape.role(message), text: texts.join("\n") };
}

interface LastWords {
  readonly seq: number;
  readonly text: string;
}

/** What the person said last. */
export async function lastWords({ deps, threadId }: ChatSession): Promise<LastWords | null> {
  for await (const { record } of deps.store.records(threadId, { kinds: ["message"], order: "descending" }))
    if (record.kind === "message" && record.origin === "user") return { seq: record.seq, text: wordsOf(record).text };
  return null;
}
