/**
 * Gives the agent its past back: `recall` searches everything ever said in the thread, hidden or not, and `recall_read`
 * reads any range of it word for word. Both say that they answer from history, so that search doesn't find its own echo.
 */

import { mediaName } from "@palimpsest/core/internal/summary";
import { type Part, shapeOf } from "@palimpsest/core/message";
import { renderHits } from "@palimpsest/core/recall";
import { charsPerToken } from "@palimpsest/core/tokens";
import { tool } from "ai";
import { z } from "zod/v4";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { toolFacts } from "../tool-facts.ts";
import { searchAll, searchThread } from "./search.ts";
import { RECALL_FACTS } from "./tool-facts.ts";

export interface RecallOptions {
  /** Most tokens of one answer, roughly. */
  readonly tokens?: number;
  /** `user`: the agent may also search the user's other threads. */
  readonly scope?: "thread" | "user";
}

const QUERY = z.object({ query: z.string().describe("What to look for: names, words, a question") });
const RANGE = z.object({
  from: z.number().int().min(1),
  to: z.number().int().min(1).optional().describe("Last message; without it only the first"),
  offset: z.number().int().min(0).optional().describe("Skip this many characters, to go on in a long message"),
});

export function recall({ tokens = 2000, scope = "thread" }: RecallOptions = {}): Middleware {
  return {
    name: "recall",
    brings: ["recall", "recall_read"],
    tools: (run) => ({
      recall: tool({
        description:
          "Search everything said earlier in this conversation, also what a summary has replaced. Returns messages with their numbers; read more around one with recall_read.",
        inputSchema: QUERY,
        metadata: toolFacts(RECALL_FACTS.recall),
        execute: ({ query }) => find(run, query, { tokens, scope }),
      }),
      recall_read: tool({
        description:
          "Read messages of this conversation word for word by their numbers, as recall and summaries give them.",
        inputSchema: RANGE,
        metadata: toolFacts(RECALL_FACTS.recall_read),
        execute: ({ from, to = from, offset = 0 }) => read(run, { from, to, offset, characters: tokens * 4 }),
      }),
    }),
  };
}

async function find(run: Run, query: string, { tokens, scope }: Required<RecallOptions>): Promise<string> {
  const { store, tools } = run.deps;
  const result =
    scope === "user"
      ? await searchAll(store, query, { tools })
      : await searchThread(store, run.threadId, query, { tools });
  if (result.kind === "nothing") return `Nothing found (${result.reason}): try other words.`;
  // The question that is being answered is no memory of it.
  const hits = result.hits.filter(({ threadId, seq }) => threadId !== run.threadId || seq !== run.question);
  const { text } = renderHits(hits, { tokens, count: charsPerToken(4), question: query });
  return text === "" ? "Nothing found: try other words." : text;
}

interface RecordPage {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
  readonly characters: number;
}

/** Ends with where to go on, so that a long message or range can be read in as many calls as it takes. */
async function read({ deps, threadId }: Run, { from, to, offset, characters }: RecordPage): Promise<string> {
  let room = characters;
  let skip = offset;
  const lines: string[] = [];
  for await (const { record } of deps.store.records(threadId, {
    range: [from, Math.max(from, to)],
    kinds: ["message"],
  })) {
    if (record.kind !== "message") continue;
    const shape = shapeOf(record.dialect);
    const message = JSON.parse(record.body) as never;
    const whole = shape.parts(message).map(words).filter(Boolean).join("\n");
    const text = whole.slice(skip, skip + room);
    lines.push(`${record.seq} ${shape.role(message)}: ${text}`);
    const end = skip + text.length;
    if (end < whole.length) return [...lines, `(goes on: recall_read from ${record.seq} offset ${end})`].join("\n");
    room -= text.length;
    skip = 0;
    if (room <= 0 && record.seq < to) return [...lines, `(goes on: recall_read from ${record.seq + 1})`].join("\n");
  }
  return lines.length === 0 ? `There is no message from ${from} to ${to}.` : lines.join("\n");
}

function words(part: Part): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "result":
      return [part.text, ...part.images.map((image) => `[${mediaName(image)}]`)].join("\n");
    case "call":
      return `[calls ${part.name} ${part.input}]`;
    case "image":
      return `[${mediaName(part)}]`;
    case "file":
      return `[${mediaName(part)}]${part.encoding === "text" ? `\n${part.data}` : ""}`;
    case "reasoning":
    case "other":
      return "";
  }
}
