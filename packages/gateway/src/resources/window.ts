/** What stands in a thread's window and why, now or at any past record, and the words of it as far as somebody looks. */
import { threadLines, threadWindow } from "palimpsest/internal/documents";
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list, seq, thread, whole } from "../http/schemas.ts";
import { missing, ownSummary, ownThread } from "./own-thread.ts";

const role = z.enum(["system", "user", "assistant", "tool"]);

const entry = z.strictObject({
  seq: seq.nullable(),
  source: z.enum(["system", "summary", "acknowledgement", "request", "message"]),
  role,
  tokens: z.number(),
  evidence: z.number().optional().describe("Tokens of it that memory and recall added."),
  shortened: list(z.string()).optional().describe("Why something shorter stands in its place."),
  pinned: z.literal(true).optional(),
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
});

const part = z.strictObject({
  kind: z.string(),
  text: z.string(),
  length: z.int().describe("Characters in all, where the text is cut."),
  name: z.string().optional(),
  id: z.string().optional(),
  isError: z.literal(true).optional(),
});

const line = z.strictObject({ seq, at: z.string(), role, origin: z.string(), parts: list(part) });

const LINES = 100;
const CHARACTERS = 400;

export const windowRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/threads/{id}/window",
    summary: "What stands in the window, entry by entry with its tokens and why, now or at a past record",
    access: "user",
    query: z.strictObject({
      at: whole(0).optional().describe("As it was when the log ended at this record."),
      window: whole(1).optional().describe("The model's window in tokens; as configured unless told."),
    }),
    answer: z.strictObject({
      thread,
      title: z.string().nullable(),
      at: z.int(),
      messages: z.int(),
      window: z.number(),
      total: z.number(),
      source: z.string(),
      parts: z.record(z.string(), z.number()),
      groups: list(z.unknown()),
      entries: list(entry),
      compaction: compaction.nullable(),
      repairs: z.int(),
      pins: list(z.int()),
      undo: seq.nullable().describe("The record that an undo would take back."),
      redo: seq.nullable(),
    }),
    async handle(call) {
      const { header, title } = await ownSummary(call);
      const { home, query } = call;
      const known = await home.window();
      const options = {
        window: query.window ?? known?.size ?? FALLBACK,
        reserve: query.window === undefined ? known?.reserve : undefined,
      };
      const found = await threadWindow(home.store, header.id, { ...options, at: query.at });
      if (found === null) throw missing(header.id);
      return { thread: header.id, title, ...found, parts: { ...found.parts } };
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/lines",
    summary: "Messages of the log as a person reads them, whatever their format; long texts are cut",
    access: "user",
    query: z.strictObject({
      from: whole(1).optional().describe("From this record on."),
      limit: whole(1, 500).optional().describe(`How many at most; ${LINES} unless told.`),
      seqs: z.string().max(4000).optional().describe("These records alone: 3,88,412."),
      length: whole(0, 5_000_000).optional().describe(`Characters of a part at most; ${CHARACTERS} unless told.`),
    }),
    answer: z.strictObject({ thread, lines: list(line), next: z.int().nullable().describe("Pass as `from`.") }),
    async handle(call) {
      const id = await ownThread(call);
      const { from, limit = LINES, seqs, length = CHARACTERS } = call.query;
      const wanted = seqs === undefined ? undefined : numbersIn(seqs);
      const which = { ...(from !== undefined && { from }), ...(wanted !== undefined && { seqs: wanted }) };
      const lines = await threadLines(call.home.store, id, { ...which, limit, length });
      const isMore = wanted === undefined && lines.length === limit;
      return { thread: id, lines, next: isMore ? lines.at(-1)!.seq + 1 : null };
    },
  }),
];

/** Where a model's window isn't known. */
const FALLBACK = 32_768;

function numbersIn(text: string): readonly number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.length > 500 || numbers.some((number) => !Number.isInteger(number) || number < 1))
    throw new ProblemError(400, "invalid", "query.seqs: at most 500 numbers of records, with commas between them");
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}
