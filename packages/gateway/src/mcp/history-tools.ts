/** What was ever said, for an assistant elsewhere: find it, read it word for word, see which threads there are and what fills one. */

import type { McpServer } from "@modelcontextprotocol/server";
import { checkThreadId } from "@palimpsest/core/log";
import { threadPrompt } from "palimpsest/inspect";
import { contextDocument, threadDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import { coverText, findText, hitsText, readText } from "palimpsest/internal/recall";
import { searchAll } from "palimpsest/recall";
import { z } from "zod";
import { failed, shown, told } from "./answer.ts";

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
      return told(await findText({ ...home, ...(await home.embedding()) }, id, query, { tokens: room }));
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
  server.registerTool(
    "threads",
    {
      title: "List conversations",
      description: "The user's threads, the most recently changed first.",
      inputSchema: z.object({
        limit: z.int().min(1).max(200).optional().describe("How many at most; 20 unless told"),
        after: z.string().max(1000).optional().describe("The next of the page before"),
      }),
      annotations: READ_ONLY,
    },
    async ({ limit = 20, after }) => {
      const page = await home.store.threads({ limit, ...(after !== undefined && { after }) }).catch(notACursor);
      if (typeof page === "string") return failed(`after: ${page}`);
      return shown({ threads: page.threads.map(threadDocument), next: page.next });
    },
  );
  server.registerTool(
    "context",
    {
      title: "What fills the window",
      description: "What would be sent to the model for a thread now, part by part, in tokens.",
      inputSchema: z.object({ thread }),
      annotations: READ_ONLY,
    },
    async ({ thread: id }) => {
      if (!(await hasThread(home, id))) return noThread(id);
      const known = await home.window();
      const prompt = await threadPrompt(home.store, id, { window: known?.size, reserve: known?.reserve });
      if (prompt.kind === "missing") return noThread(id);
      const cost = (await home.configuration()) === null ? null : await home.cost(id);
      return shown(contextDocument(id, prompt, cost));
    },
  );
}

function notACursor(error: unknown): string {
  if (error instanceof TypeError) return error.message;
  throw error;
}

/** Every hit names its thread, so that it can be read on. */
async function foundAnywhere(home: Home, query: string, room: number): Promise<string> {
  const outcome = await searchAll(home.store, query, { tools: home.tools, ...(await home.embedding()) });
  const cover = coverText(outcome);
  if (outcome.kind === "nothing") return `Nothing found (${outcome.reason}): try other words.${cover}`;
  const [first, ...rest] = outcome.hits;
  const text = hitsText(outcome.hits, { tokens: room, question: query });
  if (text === "") return `Nothing found that fits: ask for more tokens.${cover}`;
  const isOne = rest.every(({ threadId }) => threadId === first!.threadId);
  return `${isOne ? `In thread ${first!.threadId}:\n` : ""}${text}${cover}`;
}

export async function hasThread({ store }: Home, id: string): Promise<boolean> {
  return checkThreadId(id).kind !== "invalid" && (await store.header(id)) !== undefined;
}

function noThread(id: string) {
  return failed(`There is no thread ${JSON.stringify(id.slice(0, 140))}: the tool "threads" lists them.`);
}
