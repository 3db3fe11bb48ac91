/** Looking at a thread: what would be sent, what fills the window, how it came to be, what was ever said. Nothing is written. */
import { pastRequest } from "palimpsest/agent";
import { type PromptOptions, threadPrompt } from "palimpsest/inspect";
import { summarizationForThreads } from "palimpsest/internal/config";
import {
  contextDocument,
  requestDocument,
  searchDocument,
  timelineDocument,
  viewDocument,
} from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import { searchAll, searchThread } from "palimpsest/recall";
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list, thread, whole } from "../http/schemas.ts";
import { missing, ownThread } from "./own-thread.ts";

const window = z.strictObject({
  window: whole(1).optional().describe("As a window of so many tokens would force it."),
});
const asked = z.strictObject({
  q: z.string().min(1).max(10_000),
  limit: whole(1, 200).optional().describe("How many hits at most; 10 unless told."),
});
const damage = z.unknown().optional().describe("What is missing of it, where its database was damaged.");
const source = z.string();
const hit = z.strictObject({
  thread: thread.optional(),
  seq: z.int(),
  score: z.number(),
  at: z.string(),
  role: z.string(),
  speaker: z.string(),
  snippet: z.string(),
  marks: list(z.unknown()),
});
const building = z.strictObject({ indexed: z.number(), records: z.number() });
const hits = z.strictObject({
  hits: list(hit),
  reason: z.string().optional(),
  /** Records that were not searched, and how far the index is that is being built. */
  unindexed: z.number().optional(),
  building: building.optional(),
});
const HITS = 10;

export const lookingRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/threads/{id}/view",
    summary: "What would be sent to the model now",
    access: "user",
    query: window,
    answer: z.strictObject({
      thread,
      dialect: z.string(),
      tokens: z.number(),
      source,
      simulated: z.boolean(),
      system: z.unknown(),
      tools: list(z.unknown()),
      repairs: list(z.unknown()),
      messages: list(z.unknown()),
      sources: list(z.unknown()),
      damage,
    }),
    async handle(call) {
      const id = await ownThread(call);
      const prompt = await threadPrompt(call.home.store, id, await simulated(call.home, call.query.window));
      if (prompt.kind === "missing") throw missing(id);
      return viewDocument(id, prompt);
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/context",
    summary: "What fills the window, part by part",
    access: "user",
    query: window,
    answer: z.strictObject({
      thread,
      window: z.number(),
      total: z.number(),
      source,
      parts: z.record(z.string(), z.number()),
      groups: list(z.unknown()),
      simulated: z.boolean(),
      cost: z.unknown().optional(),
      damage,
    }),
    async handle(call) {
      const id = await ownThread(call);
      const { home, query } = call;
      const known = query.window === undefined ? await home.window() : null;
      const options =
        query.window === undefined
          ? { window: known?.size, reserve: known?.reserve }
          : await simulated(home, query.window);
      const prompt = await threadPrompt(home.store, id, options);
      if (prompt.kind === "missing") throw missing(id);
      const cost = (await home.configuration()) === null ? null : await home.cost(id);
      const document = contextDocument(id, prompt, cost);
      return { ...document, parts: { ...document.parts } };
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/timeline",
    summary: "The tokens of every request, and each act on the thread as a mark",
    access: "user",
    answer: z.strictObject({
      thread,
      requests: list(z.looseObject({ seq: z.int(), at: z.string(), model: z.string(), input: z.number() })),
      marks: list(z.looseObject({ seq: z.int(), at: z.string(), kind: z.string() })),
    }),
    async handle(call) {
      const { requests, marks, ...rest } = await timelineDocument(call.home.store, await ownThread(call));
      return { ...rest, requests, marks: marks.map((mark) => ({ ...mark })) };
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/requests/{seq}",
    summary: "The exact request that the answer at a record, or the next one, was given to",
    access: "user",
    answer: z.strictObject({
      thread,
      answer: z.int(),
      system: z.unknown(),
      messages: list(z.unknown()),
      tools: list(z.unknown()),
      parameters: z.unknown(),
    }),
    async handle(call) {
      const id = await ownThread(call);
      const wanted = whole(1).safeParse(call.params["seq"]);
      if (!wanted.success) throw new ProblemError(404, "no-request", "a record is named by its number, from 1");
      const found = await pastRequest(call.home, id, wanted.data);
      if (found.kind === "missing") throw missing(id);
      if (found.kind === "no-request") throw new ProblemError(404, "no-request", WHY_NONE[found.reason]);
      if (found.kind === "erased")
        throw new ProblemError(410, "erased", `it can't be shown whole: its ${found.what} text was erased`);
      return requestDocument(id, found);
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/search",
    summary: "Find what was ever said in a thread",
    access: "user",
    query: asked,
    answer: hits,
    async handle(call) {
      const id = await ownThread(call);
      const { q, limit = HITS } = call.query;
      const settings = { limit, ...(await call.home.embedding()) };
      return searchDocument(q, await searchThread(call.home.store, id, q, settings), { all: false });
    },
  }),
  route({
    method: "GET",
    path: "/api/search",
    summary: "Find what was ever said in any thread of the caller's",
    access: "user",
    query: asked,
    answer: hits,
    async handle({ home, query: { q, limit = HITS } }) {
      return searchDocument(q, await searchAll(home.store, q, { limit, ...(await home.embedding()) }), { all: true });
    },
  }),
];

const WHY_NONE = {
  "no-answer": "no model has answered at that record or after it",
  "not-recorded": "that answer came without a recorded request: it was imported, or written by another program",
};

async function simulated(home: Home, size: number | undefined): Promise<PromptOptions> {
  if (size === undefined) return {};
  return { window: size, simulate: summarizationForThreads((await home.settings()).summarization).policy };
}
