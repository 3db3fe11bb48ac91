/**
 * Messages of a log as a person reads them, in any format: each part with its words, cut where they are long.
 * A page shows thousands of them without having to know six dialects. Reads only what is asked for.
 */
import type { MessageRecord, Origin } from "@palimpsest/core/internal/log";
import { type Part, type Role, readStored } from "@palimpsest/core/internal/message";
import type { Store } from "../stores/store.ts";

interface ThreadLine {
  readonly seq: number;
  readonly at: string;
  readonly role: Role;
  readonly origin: Origin;
  readonly parts: readonly LinePart[];
}

interface LinePart {
  readonly kind: Part["kind"];
  /** Its words, as many as were asked for; of a call its input as JSON. */
  readonly text: string;
  /** How many characters there are in all. */
  readonly length: number;
  /** Of a tool, a file or a block that is only carried. */
  readonly name?: string;
  readonly id?: string;
  readonly isError?: true;
}

interface LinesQuery {
  /** From this record on; with `seqs` of no meaning. */
  readonly from?: number | undefined;
  readonly limit: number;
  /** These alone. */
  readonly seqs?: readonly number[] | undefined;
  /** Characters of a part at most. */
  readonly length: number;
}

export async function threadLines(store: Store, threadId: string, query: LinesQuery): Promise<readonly ThreadLine[]> {
  const { from = 1, limit, seqs, length } = query;
  const which = seqs === undefined ? { range: [from, Number.MAX_SAFE_INTEGER] as const } : { seqs };
  const lines: ThreadLine[] = [];
  for await (const { record } of store.records(threadId, { ...which, kinds: ["message"] })) {
    if (record.kind === "message") lines.push(lineOf(record, length));
    if (lines.length >= limit) break;
  }
  return lines;
}

function lineOf(record: MessageRecord, length: number): ThreadLine {
  const { seq, at, origin } = record;
  const { shape, message } = readStored(record);
  return { seq, at, origin, role: shape.role(message), parts: shape.parts(message).map((part) => cut(part, length)) };
}

function cut(part: Part, length: number): LinePart {
  const text = textOf(part);
  const shown = { kind: part.kind, text: text.slice(0, length).toWellFormed(), length: text.length };
  switch (part.kind) {
    case "call":
      return { ...shown, id: part.id, name: part.name };
    case "result":
      return {
        ...shown,
        id: part.id,
        ...(part.name !== null && { name: part.name }),
        ...(part.isError && { isError: true as const }),
      };
    case "image":
    case "file":
      return { ...shown, name: part.name ?? part.mediaType ?? part.kind };
    case "other":
      return { ...shown, name: part.type };
    default:
      return shown;
  }
}

/** Of what is no text, only that it is there: its bytes say nothing to a reader. */
function textOf(part: Part): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "result":
      return part.text;
    case "call":
      return part.input;
    case "file":
      return part.encoding === "text" ? part.data : (part.ref ?? "");
    case "image":
      return part.source.kind === "url" ? part.source.url : "";
    case "other":
      return part.json;
  }
}
