/** The last requests to the compatible endpoints: what came, what it was taken for, what went on, what it cost and saved. */
import { z } from "zod";
import type { RecentRequests } from "../compatible/outcome.ts";
import { notFound } from "../http/problem.ts";
import { list, next, PAGE, page, type Route, route, thread } from "../http/route.ts";

const tokens = z.number();
const requestFacts = z.strictObject({
  id: z.string().describe("As the answer's `x-request-id`."),
  at: z.string(),
  ms: z.number(),
  path: z.string(),
  model: z.string(),
  upstreamModel: z.string(),
  provider: z.string(),
  stream: z.boolean(),
  mode: z.enum(["on", "observe", "off"]),
  client: z.strictObject({ messages: z.int(), bytes: z.int(), hash: z.string().nullable() }),
  match: z.enum(["new", "extended", "forked", "passed"]),
  fork: z.enum(["other-way", "held", "moved-on"]).nullable().describe("Why it is a fork; null if it is none."),
  thread: thread.nullable(),
  seq: z.int().nullable(),
  view: z.enum(["verbatim", "compacted"]),
  upstream: z
    .strictObject({ messages: z.int(), bytes: z.int().nullable(), tokens, source: z.string(), whole: tokens })
    .nullable()
    .describe("What the provider got; `whole` is what all of it would have counted."),
  compaction: z.string().nullable(),
  shortened: z
    .strictObject({ seq: z.int(), tokens, first: tokens, last: tokens })
    .nullable()
    .describe("The question, if it was too long for the window: how many of its first and last tokens were sent."),
  evidence: tokens.nullable(),
  status: z.int(),
  end: z.enum(["answered", "aborted", "refused", "failed", "passed"]),
  usage: z.strictObject({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens }).nullable(),
  cacheShare: z.number().nullable().describe("Of the prompt, as the provider reports it."),
  cost: z.number().nullable(),
  saved: z
    .strictObject({ tokens, cost: z.number().nullable() })
    .describe("In mode `observe`: what would have been saved."),
  currency: z.enum(["USD"]).nullable().describe("Null: no price is known."),
});

export type CompatibleRequestFacts = z.output<typeof requestFacts>;
export const requestRoutes = (requests: RecentRequests): readonly Route[] => [
  route({
    method: "GET",
    path: "/api/requests",
    summary: "The last requests to the compatible endpoints, newest first; of this process, and only so many",
    access: "user",
    query: z.strictObject({ ...page, thread: thread.optional() }),
    answer: z.strictObject({ requests: list(requestFacts), next }),
    async handle({ home, query }) {
      return requests.list(home.userId, { ...query, limit: query.limit ?? PAGE });
    },
  }),
  route({
    method: "GET",
    path: "/api/requests/{request}",
    summary: "One of them",
    access: "user",
    answer: requestFacts,
    async handle({ home, params }) {
      const facts = requests.get(home.userId, params["request"]!);
      if (facts === null) throw notFound("such request among the last ones");
      return facts;
    },
  }),
];
