/** What was ever said, for an assistant elsewhere: find it, read it word for word. */
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
  type ToolAnnotations,
} from "@modelcontextprotocol/server";
import { checkThreadId } from "@palimpsest/core/internal/log";
import { ToolFailure } from "palimpsest/home";
import type { Home } from "palimpsest/internal/home";
import { context, map } from "palimpsest/internal/looking";
import { correctedHits } from "palimpsest/internal/memory";
import { add, facts, forget } from "palimpsest/internal/memory-operations";
import { MEMORY_COMMAND, type MemoryCommand, runMemoryCommand, userMemoryFiles } from "palimpsest/internal/memory-tool";
import { type Operation, OperationError } from "palimpsest/internal/operation";
import { coverText, findText, hitsText, hitsWithin, readText, whyNothing } from "palimpsest/internal/recall";
import { rules, summary, summaryEdit } from "palimpsest/internal/shaping";
import { listThreads } from "palimpsest/internal/thread-operations";
import { type SearchHit, searchAll } from "palimpsest/session";
import { z } from "zod";

const thread = z.string().max(200).describe("The id of a thread, as recall and threads name it");
const tokens = z.int().min(100).max(20_000).optional().describe("Most tokens of the answer, roughly; 2000 unless told");
const ANSWER_TOKENS = 2000;
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

export function addHistoryTools(server: McpServer, home: Home): void {
  server.registerTool(
    "recall",
    {
      title: "Search past conversations",
      description:
        "Search everything ever said in the user's conversations, also what a summary has replaced. Returns messages with their thread and number; read more around one with recall_read.",
      inputSchema: z.object({
        query: z.string().min(1).max(10_000).describe("What to look for: names, words, a question"),
        thread: thread.optional().describe("Only in this thread; without it in all of them"),
        tokens,
      }),
      annotations: READ_ONLY,
    },
    async ({ query, thread: id, tokens: room = ANSWER_TOKENS }) => {
      if (id === undefined) return told(await foundAnywhere(home, query, room));
      if (!(await hasThread(home, id))) return noThread(id);
      const options = { tokens: room, corrected: (hits: readonly SearchHit[]) => corrected(home, hits) };
      return told(await findText({ ...home, ...(await home.embedding()) }, id, query, options));
    },
  );
  server.registerTool(
    "recall_read",
    {
      title: "Read past messages",
      description: "Read messages of a thread word for word by their numbers, as recall gives them.",
      inputSchema: z.object({
        thread,
        from: z.int().min(1),
        to: z.int().min(1).optional().describe("Last message; without it only the first"),
        offset: z.int().min(0).optional().describe("Skip this many characters, to go on in a long message"),
        tokens,
      }),
      annotations: READ_ONLY,
    },
    async ({ thread: id, from, to = from, offset = 0, tokens: room = ANSWER_TOKENS }) => {
      if (!(await hasThread(home, id))) return noThread(id);
      return told(await readText(home, id, { from, to, offset, characters: room * 4 }));
    },
  );
}

/** Every hit names its thread, so that it can be read on. */
async function foundAnywhere(home: Home, query: string, room: number): Promise<string> {
  const outcome = await searchAll(home.store, query, {
    limit: hitsWithin(room),
    tools: home.tools,
    standing: "with",
    ...(await home.embedding()),
  });
  const cover = coverText(outcome);
  if (outcome.kind === "nothing") return `${whyNothing(outcome.reason)}${cover}`;
  const [first, ...rest] = outcome.hits;
  const text = await hitsText(outcome.hits, {
    tokens: room,
    question: query,
    corrected: (hits) => corrected(home, hits),
    weights: outcome.weights,
    standing: outcome.standing,
  });
  if (text === "") return `Nothing found that fits: ask for more tokens.${cover}`;
  const isOne = rest.every(({ threadId }) => threadId === first!.threadId);
  return `${isOne ? `In thread ${first!.threadId}:\n` : ""}${text}${cover}`;
}

/** By the user's own memory. */
async function corrected(home: Home, hits: readonly SearchHit[]) {
  const { store } = home;
  const document = await (await home.memory(store)).read({ userId: store.userId, agentName: null });
  return correctedHits(store, document, hits);
}

export async function hasThread({ store }: Home, id: string): Promise<boolean> {
  return checkThreadId(id).kind !== "invalid" && (await store.header(id)) !== undefined;
}

function noThread(id: string) {
  return failed(`There is no thread ${JSON.stringify(id.slice(0, 140))}: the tool "threads" lists them.`);
}

/* What a tool answers with: text for a model and, where it is a document, the document. A failure is an answer too: the model reads it and goes on. */

function told(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** The document of the route of the same name. */
function shown(document: object): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(document) }], structuredContent: { ...document } };
}

function failed(text: string): CallToolResult {
  return { ...told(text), isError: true };
}

/* Who speaks: the name a client gives itself, made safe to be kept as the source of a fact. */

/** Newer clients name themselves with every request, older ones once when they connect, some never. */
function factSource(server: McpServer, { mcpReq }: ServerContext): string {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return sourceOf(envelope[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion());
}

export function sourceOf(client: unknown): string {
  const name = typeof client === "object" && client !== null && "name" in client ? client.name : null;
  const plain = typeof name === "string" ? name.replaceAll(/[^\w.-]+/g, "-").slice(0, 64) : "";
  return plain === "" ? "mcp" : `mcp:${plain}`;
}

/* The files under `/memories` that the memory tool keeps, for an assistant elsewhere: the same commands, the same texts. */

export function addMemoryFiles(server: McpServer, { directory, userId }: Home): void {
  const files = userMemoryFiles(directory, userId);
  server.registerTool(
    "memory",
    {
      title: "Memory files",
      description: "Read and change the files under /memories, which outlive every conversation.",
      inputSchema: MEMORY_COMMAND,
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    async (command) => {
      const answer = await runMemoryCommand(files, command as MemoryCommand).catch((error: unknown) => {
        if (error instanceof ToolFailure) return error;
        throw error;
      });
      return typeof answer === "string" ? told(answer) : failed(`Error: ${answer.message}`);
    },
  );
}

/* Tools that are derived from operations: an operation with `tool` is one, with the same input and the same result. */

export function addOperationTools(server: McpServer, home: Home): void {
  for (const operation of [listThreads, map, context, rules, summary, summaryEdit, facts, add, forget])
    addOperation(server, home, operation as unknown as Operation<z.ZodObject, object>);
}

/** What every tool here calls a field that a route or a command calls otherwise. */
const TOOL_NAMES: Readonly<Record<string, string>> = { q: "query", fact: "id" };

const EFFECTS: Readonly<Record<"reads" | "adds" | "deletes", ToolAnnotations>> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  adds: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  deletes: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

function addOperation(server: McpServer, home: Home, { name, tool, input, run }: Operation<z.ZodObject, object>): void {
  const { title, description, text, effect = "reads", defaults = {}, without = [] } = tool!;
  const fields = Object.keys(input.shape).filter((field) => !without.includes(field));
  const inputSchema = z.object(
    Object.fromEntries(fields.map((field) => [TOOL_NAMES[field] ?? field, input.shape[field] as z.ZodType])),
  );
  server.registerTool(
    tool!.name ?? name.replaceAll("-", "_"),
    { title, description, inputSchema, annotations: EFFECTS[effect] },
    async (given: Readonly<Record<string, unknown>>, request) => {
      const names = fields.map((field) => [field, given[TOOL_NAMES[field] ?? field]] as const);
      const asked = { ...defaults, ...Object.fromEntries(names.filter(([, value]) => value !== undefined)) };
      const { thread } = asked as { readonly thread?: string };
      if (thread !== undefined && !(await hasThread(home, thread))) return noThread(thread);
      const options = { signal: request.mcpReq.signal, source: factSource(server, request) };
      const result = await run(home, asked, options).catch((error: unknown) => {
        if (OperationError.isInstance(error)) return error;
        throw error;
      });
      if (result instanceof OperationError) return failed(result.message);
      return text === undefined ? shown(result) : told(text(result));
    },
  );
}
