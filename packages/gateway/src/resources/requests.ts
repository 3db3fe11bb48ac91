/** The last requests to the compatible endpoints: what came, what it was taken for, what went on, what it cost and saved. */
import { z } from "zod";
import { type RecentRequests, requestFacts } from "../compatible/outcome.ts";
import { notFound } from "../http/problem.ts";
import { list, next, PAGE, page, type Route, route, thread } from "../http/route.ts";

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
