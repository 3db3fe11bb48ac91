/**
 * Where a thread is forked to ask for an answer again, or to say a message anew. Messages are named as `useChat` names
 * them: what a person said by its record's id, an answer by its run. Reads from the end, since the newest is usually meant.
 */
import type { MessageRecord } from "@palimpsest/core/log";
import { type Part, shapeOf } from "@palimpsest/core/message";
import type { Store } from "../../stores/store.ts";

/** The seq of the question that an answer, by default the last, is for; of a question named itself, its own. Null: there is none. */
export async function questionSeq(store: Store, threadId: string, messageId?: string): Promise<number | null> {
  let named = messageId === undefined;
  for await (const record of newestFirst(store, threadId)) {
    named ||= record.id === messageId || record.runId === messageId;
    if (named && isQuestion(record)) return record.seq;
  }
  return null;
}

/** The seq of what a person said, by its id. Null: it isn't there, or nobody said it. */
export async function saidSeq(store: Store, threadId: string, messageId: string): Promise<number | null> {
  for await (const record of newestFirst(store, threadId))
    if (record.id === messageId) return isQuestion(record) ? record.seq : null;
  return null;
}

/** What a person said, as a page shows it: not what the agent told itself, and no mere results of tools. */
export function isQuestion({ origin, dialect, body }: MessageRecord): boolean {
  if (origin === "injected") return false;
  const shape = shapeOf(dialect);
  const message = JSON.parse(body) as never;
  if (shape.role(message) !== "user") return false;
  return (shape.parts(message) as readonly Part[]).some(({ kind }) => kind !== "result");
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
