/**
 * A whole thread as a document for people or for other programs: everything ever said, in order, whatever was compacted
 * since. Written piece by piece, so a thread of any size needs little memory.
 */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import { type Part, readStored } from "@palimpsest/core/internal/message";
import type { Store } from "../stores/store.ts";
import { replay } from "../thread/audit.ts";
import { threadState } from "../thread/thread-view.ts";
import { htmlFoot, htmlHead, htmlMessage } from "./html.ts";
import { markdownHead, markdownMessage } from "./markdown.ts";

export const EXPORT_FORMATS = ["markdown", "html", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A message as the writers see it. */
export interface ExportedMessage {
  readonly seq: number;
  readonly at: string;
  readonly role: string;
  readonly parts: readonly Part[];
}

/** JSON lines are what `import` reads: the stored message as it is, and when it was said. */
export async function* exportThread(store: Store, threadId: string, format: ExportFormat): AsyncGenerator<string> {
  if (format === "jsonl") {
    for await (const { at, body } of replay({ store }, threadId))
      yield `{"at":${JSON.stringify(at)},"message":${body}}\n`;
    return;
  }
  const head = await store.head(threadId);
  const title = (head && threadState(head).title) ?? threadId;
  yield format === "markdown" ? markdownHead(title) : htmlHead(title);
  for await (const record of replay({ store }, threadId)) {
    const message = exported(record);
    yield format === "markdown" ? markdownMessage(message) : htmlMessage(message);
  }
  if (format === "html") yield htmlFoot();
}

function exported(record: MessageRecord): ExportedMessage {
  const { shape, message } = readStored(record);
  const { seq, at } = record;
  return { seq, at, role: shape.role(message), parts: shape.parts(message) };
}
