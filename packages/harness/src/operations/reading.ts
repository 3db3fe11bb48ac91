/** A thread as a page shows it: what stands in its window and why, its messages in any dialect, each act where it happened. */

import type { LogRecord, MessageRecord } from "@palimpsest/core/internal/log";
import { type Part, readStored } from "@palimpsest/core/internal/message";
import { z } from "zod";
import { delegationsOf } from "../features/subagents/delegations.ts";
import type { Store } from "../stores/store.ts";
import { threadLines } from "../thread/thread-lines.ts";
import { threadWindow } from "../thread/thread-window.ts";
import { invalid, list, missingThread, operation, seq, thread } from "./operation.ts";

const role = z.enum(["system", "user", "assistant", "tool"]);

const windowEntry = z.strictObject({
  seq: seq.nullable(),
  source: z.enum(["system", "rules", "summary", "acknowledgement", "request", "fold", "message"]),
  role,
  tokens: z.number(),
  evidence: z.number().optional().describe("Tokens of it that memory and recall added."),
  shortened: list(z.string()).optional().describe("Why something shorter stands in its place."),
  pinned: z.literal(true).optional(),
  folded: list(z.int()).optional().describe("Of a fold: the first and the last record it stands for."),
});

const compaction = z.strictObject({
  seq,
  at: z.string(),
  rung: z.string(),
  reason: z.string(),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  covers: list(z.int()).describe("The first and the last record that it hides itself."),
  hiddenThrough: z.int().describe("The last record that it and those before it hide."),
  text: z.string().describe("What stands for them."),
  rewritten: z
    .boolean()
    .describe("The text was made anew or erased since, with redacted words: it isn't what was sent."),
});

const windowOutput = z.strictObject({
  thread,
  title: z.string().nullable(),
  at: z.int(),
  messages: z.int(),
  window: z.number(),
  total: z.number(),
  source: z.string(),
  parts: z.record(z.string(), z.number()),
  groups: list(z.unknown()),
  entries: list(windowEntry),
  compaction: compaction.nullable(),
  repairs: z.int(),
  pins: list(z.int()),
  undo: seq.nullable().describe("The record that an undo would take back."),
  redo: seq.nullable(),
});

export const window = operation({
  name: "window",
  summary: "What stands in the window, entry by entry with its tokens and why, now or at a past record",
  method: "GET",
  path: "/api/threads/{id}/window",
  input: z.strictObject({
    thread,
    at: z.int().min(0).optional().describe("As it was when the log ended at this record."),
    window: z.int().min(1).optional().describe("The model's window in tokens; as configured unless told."),
  }),
  output: windowOutput,
  async run(home, { thread: id, at, window: size }): Promise<z.output<typeof windowOutput>> {
    const known = await home.window();
    const reserve = size === undefined ? known?.reserve : undefined;
    const options = { window: size ?? known?.size ?? UNKNOWN_WINDOW, reserve, at };
    const [found, head] = [await threadWindow(home.store, id, options), await home.store.head(id)];
    if (found === null || head === undefined) throw missingThread(id);
    const { title } = head.state;
    return { thread: id, title: typeof title === "string" ? title : null, ...found, parts: { ...found.parts } };
  },
});

/** Where a model's window isn't known. */
const UNKNOWN_WINDOW = 32_768;

const MOST_MOMENTS = 64;

const partsOutput = z.strictObject({
  thread,
  moments: list(z.strictObject({ at: z.int(), total: z.number(), parts: z.record(z.string(), z.number()) })),
});

export const parts = operation({
  name: "parts",
  summary: "What filled the window at some past records, in tokens by kind",
  method: "GET",
  path: "/api/threads/{id}/parts",
  input: z.strictObject({
    thread,
    at: z.string().max(1000).describe(`Records, at most ${MOST_MOMENTS}: 3,88,412.`),
  }),
  output: partsOutput,
  async run(home, { thread: id, at: wanted }): Promise<z.output<typeof partsOutput>> {
    const moments: z.output<typeof partsOutput>["moments"][number][] = [];
    for (const at of numbersIn(wanted, { name: "at", most: MOST_MOMENTS })) {
      const moment = await threadWindow(home.store, id, { window: UNKNOWN_WINDOW, at });
      if (moment === null) throw missingThread(id);
      moments.push({ at, total: moment.total, parts: { ...moment.parts } });
    }
    return { thread: id, moments };
  },
});

const part = z.strictObject({
  kind: z.string(),
  text: z.string(),
  length: z.int().describe("Characters in all, where the text is cut."),
  name: z.string().optional(),
  id: z.string().optional(),
  isError: z.literal(true).optional(),
});

const LINES = 100;
const CHARACTERS = 400;

const linesOutput = z.strictObject({
  thread,
  lines: list(z.strictObject({ seq, at: z.string(), role, origin: z.string(), parts: list(part) })),
  next: z.int().nullable().describe("Pass as `from`."),
});

export const lines = operation({
  name: "lines",
  summary: "Messages of the log as a person reads them, whatever their format; long texts are cut",
  method: "GET",
  path: "/api/threads/{id}/lines",
  input: z.strictObject({
    thread,
    from: z.int().min(1).optional().describe("From this record on."),
    limit: z.int().min(1).max(500).optional().describe(`How many at most; ${LINES} unless told.`),
    seqs: z.string().max(4000).optional().describe("These records alone: 3,88,412."),
    length: z
      .int()
      .min(0)
      .max(5_000_000)
      .optional()
      .describe(`Characters of a part at most; ${CHARACTERS} unless told.`),
  }),
  output: linesOutput,
  async run(
    home,
    { thread: id, from, limit = LINES, seqs, length = CHARACTERS },
  ): Promise<z.output<typeof linesOutput>> {
    const wanted = seqs === undefined ? undefined : numbersIn(seqs, { name: "seqs", most: 500 });
    const shown = await threadLines(home.store, id, { from, seqs: wanted, limit, length });
    const isMore = wanted === undefined && shown.length === limit;
    return { thread: id, lines: shown, next: isMore ? shown.at(-1)!.seq + 1 : null };
  },
});

function numbersIn(text: string, { name, most }: { readonly name: string; readonly most: number }): readonly number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.length > most || numbers.some((number) => !Number.isInteger(number) || number < 1))
    throw invalid(name, `at most ${most} numbers of records, with commas between them`);
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

const transcriptOutput = z.strictObject({
  thread,
  entries: list(z.looseObject({ seq: z.int(), at: z.string(), kind: z.string() })),
  before: z.int().nullable().describe("Of the next page, which is older; null: this is the first."),
  children: list(z.strictObject({ call: z.string(), agent: z.string(), thread, status: z.string() })).describe(
    "Sub-agents that were started here, by the call that did it.",
  ),
  run: z.string().nullable().describe("The run under way; null: none is."),
});

export const transcript = operation({
  name: "transcript",
  summary: "What was said and done in a thread, in any dialect, the newest page first; long texts are cut",
  method: "GET",
  path: "/api/threads/{id}/transcript",
  input: z.strictObject({
    thread,
    before: z.int().min(1).optional().describe("Only what stands before this record: the `before` of the page before."),
    limit: z.int().min(1).max(500).optional().describe("How many entries at most; 200 unless told."),
    whole: z.boolean().optional().describe("Texts as they are, however long."),
  }),
  output: transcriptOutput,
  async run(
    home,
    { thread: id, before, limit = 200, whole = false },
    { runOn },
  ): Promise<z.output<typeof transcriptOutput>> {
    const document = await transcriptDocument(home.store, id, { before, limit, texts: whole ? "whole" : "cut" });
    return { ...document, run: (await runOn?.(home.userId, id)) ?? null };
  },
});

/*
 * A thread as a person reads it, from the newest back, in pages: who said what, whatever the dialect, with each act on the
 * log where it happened. Long texts are cut, unless one asks for them whole.
 */

interface TranscriptQuery {
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
/** A page shows so much of a text; the rest is asked for. */
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
  const { seq, at, kind, origin } = record;
  const { shape, message } = readStored(record);
  const parts = shape.parts(message).map((part) => shownPart(part, most));
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
