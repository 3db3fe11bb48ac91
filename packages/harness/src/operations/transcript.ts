/**
 * A thread as a person reads it, from the newest back, in pages: who said what, whatever the dialect, with each act on the
 * log where it happened. Long texts are cut, unless one asks for them whole.
 */
import type { LogRecord, MessageRecord } from "@palimpsest/core/log";
import { type Part, shapeOf } from "@palimpsest/core/message";
import type { Store } from "../stores/store.ts";
import { delegationsOf } from "../subagents/delegations.ts";

export interface TranscriptQuery {
  /** Only what stands before this record. */
  readonly before?: number | undefined;
  readonly limit: number;
  readonly texts: "cut" | "whole";
}

export async function transcriptDocument(store: Store, threadId: string, { before, limit, texts }: TranscriptQuery) {
  const head = await store.head(threadId);
  const last = Math.min((before ?? Number.MAX_SAFE_INTEGER) - 1, head?.version ?? 0);
  const most = texts === "cut" ? MOST_CHARS : Number.POSITIVE_INFINITY;
  const entries: TranscriptEntry[] = [];
  let isMore = false;
  if (last >= 1)
    for await (const { record } of store.records(threadId, { range: [1, last], kinds: KINDS, order: "descending" })) {
      isMore = entries.length >= limit;
      if (isMore) break;
      entries.push(entryOf(record, most));
    }
  const first = entries.at(-1)?.seq ?? 1;
  const children = delegationsOf(head?.state ?? {}).map(({ id: call, agent, threadId: thread, status }) => ({
    call,
    agent,
    thread,
    status,
  }));
  return { thread: threadId, entries: entries.toReversed(), before: isMore ? first : null, children };
}

const KINDS = ["message", "usage", "compaction", "prune", "undo", "pin", "evidence", "event"] as const;
/** A page shows so much of a text; whoever wants the rest asks for it. */
const MOST_CHARS = 20_000;
/** A picture within a page of a transcript. */
const MOST_PICTURE = 400_000;

interface TranscriptEntry {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly [more: string]: unknown;
}

function entryOf(record: LogRecord, most: number): TranscriptEntry {
  const { seq, at, kind } = record;
  const own = { seq, at, kind };
  switch (record.kind) {
    case "message":
      return messageEntry(record, most);
    case "compaction": {
      const { covers, rung, reason, tokensBefore, tokensAfter } = record;
      return { ...own, covers, rung, reason, tokensBefore, tokensAfter };
    }
    case "prune": {
      const { tokensBefore, tokensAfter, entries } = record;
      return { ...own, tokensBefore, tokensAfter, shortened: entries.length };
    }
    case "usage": {
      const { of, model, input, output, cacheRead } = record;
      return { ...own, of, model, input, output, cacheRead };
    }
    case "undo":
      return { ...own, of: record.of };
    case "pin":
      return { ...own, of: record.target, on: record.on };
    case "evidence":
      return { ...own, of: record.of, ids: record.ids, ...cut(record.text, most) };
    case "event":
      return { ...own, event: record.event.type };
    case "state":
      return own;
  }
}

function messageEntry(record: MessageRecord, most: number): TranscriptEntry {
  const { seq, at, kind, origin, dialect } = record;
  const shape = shapeOf(dialect);
  const message = JSON.parse(record.body) as never;
  const parts = (shape.parts(message) as readonly Part[]).map((part) => shownPart(part, most));
  return { seq, at, kind, role: shape.role(message), origin, parts };
}

/** `chars`: of the whole text, where it was cut. */
function cut(text: string, most: number): { readonly text: string; readonly chars?: number } {
  if (text.length <= most) return { text };
  return { text: text.slice(0, most), chars: text.length };
}

function shownPart(part: Part, most: number) {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return { kind: part.kind, ...cut(part.text, most) };
    case "call":
      return { kind: part.kind, id: part.id, name: part.name, ...cut(part.input, most) };
    case "result":
      return { kind: part.kind, id: part.id, name: part.name, isError: part.isError, ...cut(part.text, most) };
    case "image": {
      const { source, mediaType } = part;
      const type = mediaType ?? "image/png";
      const isShown = source.kind === "base64" && source.data.length <= MOST_PICTURE;
      return { kind: part.kind, mediaType: type, ...(isShown && { url: `data:${type};base64,${source.data}` }) };
    }
    case "file":
      return { kind: part.kind, mediaType: part.mediaType, name: part.name };
    case "other":
      return { kind: part.kind, type: part.type, ...cut(part.json, most) };
  }
}
