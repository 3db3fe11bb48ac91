/** Threads as a whole: listed, made, renamed, deleted, and read as they are in the log. */
import { checkThreadId } from "@palimpsest/core/internal/log";
import { z } from "zod";
import { deleteInHome, MOST_TITLE, renameThread, titleFrom } from "../home/home-acts.ts";
import type { Home } from "../home/open-home.ts";
import type { ThreadSummary } from "../stores/store.ts";
import { replay } from "../thread/audit.ts";
import { createThread, type ThreadDeps } from "../thread/writer.ts";
import {
  busyThread,
  invalid,
  leasedValue,
  list,
  longOperation,
  missingThread,
  OperationError,
  operation,
  SentPieces,
  thread,
  unwritten,
} from "./operation.ts";

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
export type ListedThread = z.output<typeof row>;

const title = z.string().max(1000);
const limit = z.int().min(1).max(500).optional().describe("How many at most; 100 unless told.");
const next = z.string().nullable().describe("Pass as `after` for the next page; null at the end.");
const PAGE = 100;

export const listThreads = operation({
  name: "threads",
  summary: "The caller's threads, the most recently changed first",
  method: "GET",
  path: "/api/threads",
  input: z.strictObject({
    limit,
    after: z.string().max(200).optional().describe("The `next` of the page before."),
    kind: z.enum(["main", "subagent"]).optional(),
  }),
  output: z.strictObject({ threads: list(row), next }),
  tool: {
    title: "List conversations",
    description: "The user's threads, the most recently changed first.",
    defaults: { limit: 20 },
  },
  async run(home, { limit: most = PAGE, after, kind }) {
    const page = await home.store.threads({ limit: most, after, kind }).catch((error: unknown) => {
      throw error instanceof TypeError ? invalid("after", error.message) : error;
    });
    return { threads: page.threads.map(threadRow), next: page.next };
  },
});

export const create = operation({
  name: "create",
  summary: "Make a thread",
  method: "POST",
  path: "/api/threads",
  status: 201,
  input: z.strictObject({
    id: z.string().optional().describe("Without it a new one is chosen."),
    user: z.string().optional().describe("As X-Palimpsest-User, for who may act for others."),
    title: title.optional(),
    agent: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
      .optional(),
  }),
  output: row,
  async run(home, { id = home.ids(), user, title: text, agent }, { forUser = home.forUser }) {
    const checked = checkThreadId(id);
    if (checked.kind === "invalid") throw new OperationError("bad-thread-id", checked.problem);
    const own = user === undefined ? home : forUser(user);
    const records = text === undefined ? [] : [{ kind: "state" as const, patch: { title: checkedTitle(text) } }];
    const made = await createThread(own, { id, agentName: agent }, records);
    if (made === "exists")
      throw new OperationError("exists", `there is a thread ${JSON.stringify(id)} already: choose another id`);
    return rowOf(own, id);
  },
});

export const show = operation({
  name: "thread",
  summary: "One thread",
  method: "GET",
  path: "/api/threads/{id}",
  input: z.strictObject({ thread }),
  output: row,
  run: (home, { thread: id }) => rowOf(home, id),
});

export const rename = operation({
  name: "rename",
  summary: "Rename a thread",
  method: "PATCH",
  path: "/api/threads/{id}",
  input: z.strictObject({ thread, title }),
  output: z.strictObject({ thread, title: z.string() }),
  async run(home, { thread: id, title: text }) {
    const name = checkedTitle(text);
    const { kind } = leasedValue(id, await renameThread(home, id, name));
    if (kind !== "committed") throw unwritten(id, kind);
    return { thread: id, title: name };
  },
});

export const remove = operation({
  name: "delete",
  summary: "Delete a thread for good, with its files, its sub-agents' threads and what names it in memory",
  method: "DELETE",
  path: "/api/threads/{id}",
  input: z.strictObject({ thread }),
  output: z.strictObject({
    thread,
    deleted: z.literal(true),
    left: z.string().optional().describe("A file of the database that another process still holds with the words."),
  }),
  async run(home, { thread: id }) {
    const result = await deleteInHome(home, id);
    if (result.kind === "missing") throw missingThread(id);
    if (result.kind === "busy") throw busyThread(result.threadId, result);
    const { scrubbed } = result;
    return { thread: id, deleted: true as const, ...(scrubbed.kind === "held" && { left: scrubbed.file }) };
  },
});

export const messages = longOperation({
  name: "messages",
  summary: "Everything ever said, in order, as given; as JSON lines with as=jsonl",
  method: "GET",
  path: "/api/threads/{id}/messages",
  input: z.strictObject({ thread, as: z.enum(["json", "jsonl"]).optional() }),
  output: z.strictObject({ thread, dialect: z.string().nullable(), messages: list(z.unknown()), seqs: list(z.int()) }),
  async run(home, { thread: id, as = "json" }) {
    return as === "jsonl"
      ? new SentPieces(messageLines(home, id), "application/jsonl")
      : new SentPieces(messageDocument(home, id), "application/json");
  },
});

export const records = operation({
  name: "records",
  summary: "The records of the log, in order",
  method: "GET",
  path: "/api/threads/{id}/records",
  input: z.strictObject({
    thread,
    limit,
    after: z.int().min(0).optional().describe("The seq of the last one seen."),
    kind: z.enum(["message"]).optional().describe("Only records of this kind."),
  }),
  output: z.strictObject({
    thread,
    records: list(z.looseObject({ seq: z.int(), kind: z.string() })),
    hidden: z
      .strictObject({ through: z.int(), by: z.int() })
      .nullable()
      .describe("The last record that the prompt shows as a summary, and the compaction that hides it; null: none."),
    next,
  }),
  async run(home, { thread: id, limit: most = PAGE, after = 0, kind }) {
    const head = await home.store.head(id);
    if (head === undefined) throw missingThread(id);
    const last = after + most;
    const found = [];
    for await (const { record } of home.store.records(id, {
      range: [after + 1, last],
      kinds: kind && [kind],
    }))
      found.push({ ...record });
    const { hiddenThrough: through, compaction: by, version } = head;
    const hidden = through > 0 && by !== null ? { through, by } : null;
    return { thread: id, records: found, hidden, next: last < version ? String(last) : null };
  },
});

async function rowOf(home: Home, id: string): Promise<ListedThread> {
  const [header, head] = await Promise.all([home.store.header(id), home.store.head(id)]);
  if (header === undefined || head === undefined) throw missingThread(id);
  const { title: name } = head.state;
  const { messages: count, updatedAt } = head;
  return threadRow({ header, title: typeof name === "string" ? name : null, messages: count, updatedAt });
}

export function threadRow({ header, title: name, messages: count, updatedAt }: ThreadSummary): ListedThread {
  const { id, parent, forkedAt, user, agent, kind } = header;
  const place = { parent, forkedAt, user, agent, kind };
  return { id, title: name, messages: count, updatedAt, ...place };
}

function checkedTitle(text: string): string {
  const name = titleFrom(text);
  if (name === null) throw invalid("title", `a title has 1 to ${MOST_TITLE} characters`);
  return name;
}

async function* messageLines(deps: ThreadDeps, id: string): AsyncGenerator<string> {
  for await (const { body } of replay(deps, id)) yield `${body}\n`;
}

/** One document, written as it is read; bodies go in as they are stored. */
async function* messageDocument(deps: ThreadDeps, id: string): AsyncGenerator<string> {
  const seqs: number[] = [];
  for await (const { dialect, body, seq } of replay(deps, id)) {
    yield seqs.length === 0 ? opening(id, dialect) : ",\n";
    yield body;
    seqs.push(seq);
  }
  if (seqs.length === 0) yield opening(id, null);
  yield `\n],"seqs":${JSON.stringify(seqs)}}\n`;
}

function opening(id: string, dialect: string | null): string {
  return `{"thread":${JSON.stringify(id)},"dialect":${JSON.stringify(dialect)},"messages":[\n`;
}
