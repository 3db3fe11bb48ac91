/** Threads: listed, made, renamed, deleted, filled from a file, and read as they are in the log. */
import { deleteInHome, MOST_TITLE, renameThread, titleFrom } from "palimpsest/internal/assistant";
import { deleteDocument, renameDocument, replayDocument, threadDocument } from "palimpsest/internal/documents";
import { createThread, replay, type ThreadDeps } from "palimpsest/threads";
import { z } from "zod";
import { mayAct } from "../access/admit.ts";
import { ProblemError } from "../http/problem.ts";
import { type Route, route, Stream } from "../http/route.ts";
import { agent, list, next, noBody, PAGE, page, thread, whole } from "../http/schemas.ts";
import { importRoute } from "./import.ts";
import { busy, missing, newThreadId, ownSummary, ownThread } from "./own-thread.ts";

const row = z.strictObject({
  id: thread,
  title: z.string().nullable(),
  messages: z.int(),
  updatedAt: z.string(),
  parent: z.string().nullable(),
  forkedAt: z.int().nullable(),
  user: z.string(),
  agent: z.string(),
  kind: z.enum(["main", "subagent"]),
});

const title = z.string().max(1000);

export const threadRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/threads",
    summary: "The caller's threads, the most recently changed first",
    access: "user",
    query: z.strictObject({ ...page, kind: z.enum(["main", "subagent"]).optional() }),
    answer: z.strictObject({ threads: list(row), next }),
    async handle({ query: { limit = PAGE, after, kind }, home }) {
      const query = { limit, ...(after !== undefined && { after }), ...(kind !== undefined && { kind }) };
      const found = await home.store.threads(query).catch((error: unknown) => {
        throw error instanceof TypeError ? new ProblemError(400, "invalid", `query.after: ${error.message}`) : error;
      });
      return { threads: found.threads.map(threadDocument), next: found.next };
    },
  }),
  route({
    method: "POST",
    path: "/api/threads",
    summary: "Make a thread",
    access: "user",
    status: 201,
    body: z.strictObject({
      id: z.string().optional().describe("Without it a new one is chosen."),
      user: z.string().optional().describe("As X-Palimpsest-User, for who may act for others."),
      title: title.optional(),
      agent: agent.optional(),
    }),
    answer: row,
    async handle({ body, home, caller }) {
      const id = newThreadId(body.id ?? home.ids());
      if (body.user !== undefined && !mayAct(caller, body.user))
        throw new ProblemError(403, "not-your-user", "this key may not act for another user");
      const own = body.user === undefined ? home : home.forUser(body.user);
      const name = body.title === undefined ? null : checkedTitle(body.title);
      const records = name === null ? [] : [{ kind: "state" as const, patch: { title: name } }];
      const made = await createThread(own, { id, ...(body.agent !== undefined && { agentName: body.agent }) }, records);
      if (made === "exists")
        throw new ProblemError(409, "exists", `there is a thread ${JSON.stringify(id)} already: choose another id`);
      return threadDocument(await ownSummary({ params: { id }, home: own }));
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}",
    summary: "One thread",
    access: "user",
    answer: row,
    handle: async (call) => threadDocument(await ownSummary(call)),
  }),
  route({
    method: "PATCH",
    path: "/api/threads/{id}",
    summary: "Rename a thread",
    access: "user",
    body: z.strictObject({ title }),
    answer: z.strictObject({ thread, title: z.string() }),
    async handle(call) {
      const id = await ownThread(call);
      const name = checkedTitle(call.body.title);
      const held = await renameThread(call.home, id, name);
      if (held.kind === "missing") throw missing(id);
      if (held.kind === "busy") throw busy(id, held);
      if (held.value.kind !== "committed") throw busy(id);
      return renameDocument(id, name);
    },
  }),
  route({
    method: "DELETE",
    path: "/api/threads/{id}",
    summary: "Delete a thread for good, with its files, its sub-agents' threads and what names it in memory",
    access: "user",
    body: noBody,
    answer: z.strictObject({ thread, deleted: z.literal(true) }),
    async handle(call) {
      const id = await ownThread(call);
      const result = await deleteInHome(call.home, id);
      if (result.kind === "missing") throw missing(id);
      if (result.kind === "busy") throw busy(result.threadId, result);
      return deleteDocument(id);
    },
  }),
  importRoute,
  route({
    method: "GET",
    path: "/api/threads/{id}/messages",
    summary: "Everything ever said, in order, as given; as JSON lines with as=jsonl",
    access: "user",
    query: z.strictObject({ as: z.enum(["json", "jsonl"]).optional() }),
    answer: z.strictObject({
      thread,
      dialect: z.string().nullable(),
      messages: list(z.unknown()),
      seqs: list(z.int()),
    }),
    async handle(call) {
      const id = await ownThread(call);
      if (call.query.as === "jsonl") return new Stream(lines(call.home, id), "application/jsonl");
      return new Stream(replayDocument(call.home, id));
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/records",
    summary: "The records of the log, in order",
    access: "user",
    query: z.strictObject({ limit: page.limit, after: whole(0).optional().describe("The seq of the last one seen.") }),
    answer: z.strictObject({ thread, records: list(z.looseObject({ seq: z.int(), kind: z.string() })), next }),
    async handle(call) {
      const id = await ownThread(call);
      const { limit = PAGE, after = 0 } = call.query;
      const records = [];
      for await (const { record } of call.home.store.records(id, { range: [after + 1, after + limit] }))
        records.push({ ...record });
      const last = records.at(-1)?.seq ?? 0;
      const { version = 0 } = (await call.home.store.head(id)) ?? {};
      return { thread: id, records, next: last > 0 && last < version ? String(last) : null };
    },
  }),
];

async function* lines(deps: ThreadDeps, id: string): AsyncGenerator<string> {
  for await (const { body } of replay(deps, id)) yield `${body}\n`;
}

function checkedTitle(text: string): string {
  const name = titleFrom(text);
  if (name === null) throw new ProblemError(400, "invalid", `body.title: a title has 1 to ${MOST_TITLE} characters`);
  return name;
}
