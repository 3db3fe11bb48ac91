/** Looking at a thread: what would be sent, what fills the window, how it came to be, what was ever said. Nothing is written. */

import { type LogRecord, parseHeader } from "@palimpsest/core/internal/log";
import { createSnippets, mapLineText } from "@palimpsest/core/internal/recall";
import { z } from "zod";
import { pastRequest } from "../agent/past-request.ts";
import { summarizationForThreads } from "../compaction/summarization.ts";
import type { Home } from "../home/open-home.ts";
import type { ConfigFile } from "../home/schema.ts";
import { costOf, knownPrices, knownWindow, OFFLINE, pricesOf, windowNow } from "../models/facts.ts";
import { mapNote, mapOfThread } from "../recall/answers.ts";
import { type SearchOutcome, searchAll, searchThread } from "../recall/search.ts";
import type { Store } from "../stores/store.ts";
import { type InspectedPrompt, type PromptOptions, threadPrompt } from "../thread/sized-thread.ts";
import { list, missingThread, OperationError, operation, thread } from "./operation.ts";

const window = z.int().min(1).optional().describe("As a window of so many tokens would force it.");
const q = z.string().min(1).max(10_000);
const limit = z.int().min(1).max(200).optional().describe("How many hits at most; 10 unless told.");
const damage = z.unknown().optional().describe("What is missing of it, where its database was damaged.");

export const view = operation({
  name: "view",
  summary: "What would be sent to the model now",
  method: "GET",
  path: "/api/threads/{id}/view",
  input: z.strictObject({ thread, window }),
  output: z.strictObject({
    thread,
    dialect: z.string(),
    tokens: z.number(),
    source: z.string(),
    simulated: z.boolean(),
    system: z.unknown(),
    tools: list(z.unknown()),
    repairs: list(z.unknown()),
    messages: list(z.unknown()),
    sources: list(z.unknown()),
    damage,
  }),
  async run(home, { thread: id, window: size }) {
    const options = size === undefined ? {} : await simulated(home, size);
    const { count, breakdown: _, kind: __, damage: lost, ...prompt } = await promptOf(home, id, options);
    return {
      thread: id,
      ...prompt,
      tokens: count.tokens,
      source: count.source,
      ...(lost !== null && { damage: lost }),
    };
  },
});

export const context = operation({
  name: "context",
  summary: "What fills the window, part by part",
  method: "GET",
  path: "/api/threads/{id}/context",
  input: z.strictObject({ thread, window }),
  output: z.strictObject({
    thread,
    window: z.number(),
    windowAssumed: z.literal(true).optional().describe("The model's window is not known: this one is a guess."),
    total: z.number(),
    source: z.string(),
    parts: z.record(z.string(), z.number()),
    groups: list(z.unknown()),
    simulated: z.boolean(),
    cost: z.unknown().optional(),
    damage,
  }),
  tool: {
    title: "What fills the window",
    description: "What would be sent to the model for a thread now, part by part, in tokens.",
  },
  async run(home, { thread: id, window: size }) {
    const known = size === undefined ? await home.window() : null;
    const options = size === undefined ? { window: known?.size, reserve: known?.reserve } : await simulated(home, size);
    const prompt = await promptOf(home, id, options);
    const cost = (await home.configuration()) === null ? null : await home.cost(id);
    const { breakdown } = prompt;
    return {
      thread: id,
      ...breakdown,
      parts: { ...breakdown.parts },
      ...(size === undefined && (known === null || known.source === "fallback") && { windowAssumed: true as const }),
      simulated: prompt.simulated,
      ...(cost !== null && { cost }),
      ...(prompt.damage !== null && { damage: prompt.damage }),
    };
  },
});

export const timeline = operation({
  name: "timeline",
  summary: "The tokens of every request, and each act on the thread as a mark",
  method: "GET",
  path: "/api/threads/{id}/timeline",
  input: z.strictObject({ thread }),
  output: z.strictObject({
    thread,
    requests: list(
      z.looseObject({
        seq: z.int(),
        at: z.string(),
        model: z.string(),
        input: z.number(),
        window: z.number().nullable().describe("Of the model that answered; null: not known."),
        cost: z.number().nullable().describe("In US dollars; null: no price is known."),
      }),
    ),
    marks: list(z.looseObject({ seq: z.int(), at: z.string(), kind: z.string() })),
  }),
  async run(home, { thread: id }) {
    const models = { config: await home.settings(), learned: await home.learned() };
    const { requests, marks, ...rest } = await timelineDocument(home.store, id, models);
    return { ...rest, requests, marks: marks.map((mark) => ({ ...mark })) };
  },
});

export const request = operation({
  name: "request",
  summary: "The exact request that the answer at a record, or the next one, was given to",
  method: "GET",
  path: "/api/threads/{id}/requests/{seq}",
  input: z.strictObject({ thread, seq: z.int().min(1) }),
  output: z.strictObject({
    thread,
    answer: z.int(),
    system: z.unknown(),
    messages: list(z.unknown()),
    tools: list(z.unknown()),
    parameters: z.unknown(),
    redacted: list(z.int()).describe("Its records whose words were erased since: there it isn't what was sent."),
    rewritten: list(z.int()).describe("Its compaction, where the summary was made anew or erased since."),
  }),
  async run(home, { thread: id, seq }) {
    const found = await pastRequest(home, id, seq);
    if (found.kind === "missing") throw missingThread(id);
    if (found.kind === "no-request") throw new OperationError("no-request", WHY_NONE[found.reason]);
    if (found.kind === "erased")
      throw new OperationError(
        "erased",
        `the request of the answer at ${found.answer} can't be shown whole: its ${found.what} text was erased, or is not kept in this store`,
      );
    const { kind: _, ...sent } = found;
    return { thread: id, ...sent };
  },
});

const WHY_NONE = {
  "no-answer":
    "no model was asked here at that record or after it (an imported answer came without its request): give the record of an answer",
  "not-recorded":
    "that answer came without a recorded request: it was imported, or whoever asked didn't say what it sent beside the messages",
};

const hits = z.strictObject({
  hits: list(
    z.strictObject({
      thread: thread.optional(),
      seq: z.int(),
      score: z.number(),
      at: z.string(),
      role: z.string(),
      speaker: z.string(),
      snippet: z.string(),
      marks: list(z.unknown()),
    }),
  ),
  reason: z.string().optional(),
  /** Records that were not searched, and how far the index is that is being built. */
  unindexed: z.number().optional(),
  building: z.strictObject({ indexed: z.number(), records: z.number() }).optional(),
});

export const search = operation({
  name: "search",
  summary: "Find what was ever said in a thread",
  method: "GET",
  path: "/api/threads/{id}/search",
  input: z.strictObject({ thread, q, limit }),
  output: hits,
  async run(home, { thread: id, q: question, limit: most = HITS }) {
    const settings = { limit: most, only: "holders", ...(await home.embedding()) } as const;
    const outcome = await searchThread(home.store, id, question, settings);
    if (outcome.kind === "nothing" && outcome.reason === "missing") throw missingThread(id);
    return hitsOf(question, outcome, { all: false });
  },
});

export const searchEverywhere = operation({
  name: "search-all",
  summary: "Find what was ever said in any thread of the caller's",
  method: "GET",
  path: "/api/search",
  input: z.strictObject({ q, limit }),
  output: hits,
  async run(home, { q: question, limit: most = HITS }) {
    const settings = { limit: most, only: "holders", ...(await home.embedding()) } as const;
    return hitsOf(question, await searchAll(home.store, question, settings), { all: true });
  },
});

const HITS = 10;

/** `all`: of every thread, so that each hit names its own. */
function hitsOf(question: string, outcome: SearchOutcome, { all }: { readonly all: boolean }) {
  const snippetOf = createSnippets(question);
  const { unindexed, building } = outcome;
  return {
    hits: (outcome.kind === "found" ? outcome.hits : []).map((hit) => {
      const { seq, score, at, role, speaker } = hit;
      const found = { seq, score, at, role, speaker };
      const { text: snippet, marks } = snippetOf(hit.text);
      return { ...(all && { thread: hit.threadId }), ...found, snippet, marks };
    }),
    ...(outcome.kind === "nothing" && { reason: outcome.reason }),
    ...(unindexed !== undefined && { unindexed }),
    ...(building !== undefined && { building }),
  };
}

export const map = operation({
  name: "map",
  summary: "What was talked about in a thread, in order",
  method: "GET",
  path: "/api/threads/{id}/map",
  input: z.strictObject({
    thread,
    q: z.string().max(10_000).optional().describe("Which stretches to show where not all fit; the newest unless told."),
    tokens: z
      .int()
      .min(100)
      .max(100_000)
      .optional()
      .describe("Most tokens of all lines together, roughly; 2000 unless told."),
  }),
  output: z.strictObject({
    thread,
    stretches: z.int(),
    lines: list(
      z.strictObject({
        from: z.int(),
        to: z.int(),
        at: z.string(),
        label: z.string(),
        files: list(z.string()),
        result: z.string(),
      }),
    ),
  }),
  tool: {
    title: "Map of a conversation",
    description:
      "What was talked about in a conversation, in order: a line for each stretch with its message numbers, date, subject, files and outcome. For orders, summaries and everything about a subject. Read a range with recall_read.",
    text: ({ stretches: of, lines: shown }) =>
      of === 0 ? "Nothing was said there." : `${mapNote({ shown, of })}${shown.map(mapLineText).join("\n")}`,
  },
  async run(home, { thread: id, q: question, tokens = MAP_TOKENS }) {
    const found = await mapOfThread({ ...home, ...(await home.embedding()) }, id, { question, tokens });
    if (found === null) throw missingThread(id);
    return { thread: id, stretches: found.of, lines: found.shown.map((line) => ({ ...line, files: [...line.files] })) };
  },
});

const MAP_TOKENS = 2000;

async function promptOf(home: Home, id: string, options: PromptOptions): Promise<InspectedPrompt> {
  const prompt = await threadPrompt(home.store, id, options);
  if (prompt.kind === "missing") throw missingThread(id);
  return prompt;
}

async function simulated(home: Home, size: number): Promise<PromptOptions> {
  return { window: size, simulate: summarizationForThreads((await home.settings()).summarization).policy };
}

/*
 * A thread over time, as JSON: the tokens of every request with the window and the cost of the model that answered it, and
 * each act on the log as a mark. Reads no message.
 */

export async function timelineDocument(store: Store, threadId: string, settings: TimelineModelSettings) {
  const reports: TimelineUsage[] = [];
  const marks: TimelineMark[] = [];
  const header = await store.header(threadId);
  if (header?.forkedAt != null) marks.push({ seq: header.forkedAt, at: header.createdAt, kind: "fork" });
  for await (const { record } of store.records(threadId, { kinds: KINDS })) {
    if (record.kind === "usage") reports.push(record);
    else marks.push(markOf(record));
  }
  // An undo of an undo is what a person calls a redo.
  const undone = new Map<number, "undo" | "redo">();
  for (const [at, mark] of marks.entries()) {
    if (mark.kind !== "undo") continue;
    const kind = undone.get(mark.of ?? 0) === "undo" ? "redo" : "undo";
    undone.set(mark.seq, kind);
    marks[at] = { ...mark, kind };
  }
  const times = await answeredAt(store, threadId, reports);
  const models = modelFacts(settings);
  const requests = reports.map((report) => requestOf(report, times, models(report.model)));
  return { thread: threadId, requests, marks: marks.toSorted((a, b) => a.seq - b.seq) };
}

const KINDS = ["usage", "compaction", "prune", "undo", "pin", "evidence", "event"] as const;

interface TimelineMark {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The record it is about. */
  readonly of?: number;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

type TimelineUsage = Extract<LogRecord, { kind: "usage" }>;

interface TimelineModelSettings {
  readonly config: Pick<ConfigFile, "models" | "summarization">;
  readonly learned: Parameters<typeof windowNow>[2];
}

function requestOf(report: TimelineUsage, times: ReadonlyMap<number, string>, model: TimelineModel) {
  const { of, input, output, cacheRead, cacheWrite } = report;
  return {
    seq: of,
    at: times.get(of) ?? report.at,
    model: report.model,
    input,
    output,
    cacheRead,
    cacheWrite,
    /** Null: not known. */
    window: model.window,
    cost: model.prices === null ? null : costOf(report, model.prices).spent,
  };
}

/** The messages' own: a report of an imported one may bear the time of the import. */
async function answeredAt(
  store: Store,
  threadId: string,
  reports: readonly TimelineUsage[],
): Promise<Map<number, string>> {
  const times = new Map<number, string>();
  if (reports.length === 0) return times;
  const seqs = reports.map(({ of }) => of);
  for await (const { chained } of store.records(threadId, { kinds: ["message"], seqs, bodies: "none" })) {
    const { seq, at } = parseHeader(chained);
    times.set(seq, at);
  }
  return times;
}

interface TimelineModel {
  readonly window: number | null;
  readonly prices: Parameters<typeof costOf>[1] | null;
}

/** By the name of its entry or by the provider's own; of a model that isn't configured what the tables know. */
function modelFacts({ config, learned }: TimelineModelSettings): (model: string) => TimelineModel {
  const { fallback_context_window: fallback } = config.summarization;
  return (model) => {
    const entry =
      config.models.find(({ name }) => name === model) ??
      config.models.find((one) => one.model === model) ??
      (model === OFFLINE.name ? OFFLINE : null);
    if (entry === null) return { window: knownWindow(model), prices: knownPrices(model) };
    return { window: windowNow(entry, fallback, learned).tokens, prices: pricesOf(entry) };
  };
}

function markOf(record: LogRecord): TimelineMark {
  const { seq, at, kind } = record;
  switch (record.kind) {
    case "compaction":
    case "prune":
      return { seq, at, kind, tokensBefore: record.tokensBefore, tokensAfter: record.tokensAfter };
    case "undo":
    case "evidence":
      return { seq, at, kind, of: record.of };
    case "pin":
      return { seq, at, kind: record.on ? "pin" : "unpin", of: record.target };
    case "event":
      return { seq, at, kind: record.event.type };
    default:
      return { seq, at, kind };
  }
}
