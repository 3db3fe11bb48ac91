/** What was ever said, for an assistant elsewhere: find it, read it word for word. */

import type { McpServer } from "@modelcontextprotocol/server";
import { checkThreadId } from "@palimpsest/core/log";
import type { Home } from "palimpsest/internal/home";
import { correctedHits } from "palimpsest/internal/memory";
import { coverText, findText, hitsText, hitsWithin, readText, whyNothing } from "palimpsest/internal/recall";
import { type SearchHit, searchAll } from "palimpsest/recall";
import { z } from "zod";
import { failed, told } from "./answer.ts";

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

export function noThread(id: string) {
  return failed(`There is no thread ${JSON.stringify(id.slice(0, 140))}: the tool "threads" lists them.`);
}
