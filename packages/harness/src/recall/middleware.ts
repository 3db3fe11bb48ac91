/**
 * Gives the agent its past back: `recall` searches everything ever said in the thread, hidden or not, and `recall_read`
 * reads any range of it word for word. Both say that they answer from history, so that search doesn't find its own echo.
 */

import { fixedTokens } from "@palimpsest/core/internal/prompt";
import { tool } from "ai";
import { z } from "zod/v4";
import type { Middleware, Run } from "../agent/run.ts";
import { describeTool } from "../tool-facts.ts";
import { findText, readText } from "./answers.ts";
import { RECALL_FACTS } from "./catch-up.ts";

export interface RecallOptions {
  /** Most tokens of one answer, roughly; a small window allows less. */
  readonly tokens?: number;
  /** `user`: the agent may also search the user's other threads. */
  readonly scope?: "thread" | "user";
  /** What was corrected since is marked in the answer. */
  readonly corrected?: Middleware["corrected"];
}

const QUERY = z.object({ query: z.string().describe("What to look for: names, words, a question") });

const RANGE = z.object({
  from: z.number().int().min(1),
  to: z.number().int().min(1).optional().describe("Last message; without it only the first"),
  offset: z.number().int().min(0).optional().describe("Skip this many characters, to go on in a long message"),
});

export function recall({ tokens = 2000, scope = "thread", corrected }: RecallOptions = {}): Middleware {
  return {
    name: "recall",
    brings: ["recall", "recall_read"],
    tools: (run) => ({
      recall: tool({
        description:
          "Search everything said earlier in this conversation, also what a summary has replaced. Returns messages with their numbers; read more around one with recall_read.",
        inputSchema: QUERY,
        metadata: describeTool(RECALL_FACTS.recall),
        execute: ({ query }) =>
          findText(run.deps, run.threadId, query, {
            tokens: Math.min(tokens, roomIn(run)),
            scope,
            except: run.question,
            corrected: corrected && ((hits) => corrected(hits, run)),
          }),
      }),
      recall_read: tool({
        description:
          "Read messages of this conversation word for word by their numbers, as recall and summaries give them.",
        inputSchema: RANGE,
        metadata: describeTool(RECALL_FACTS.recall_read),
        execute: ({ from, to = from, offset = 0 }) =>
          readText(run.deps, run.threadId, { from, to, offset, characters: Math.min(tokens, roomIn(run)) * 4 }),
      }),
    }),
  };
}

/** A longer answer would be cut on arrival, and in the middle, whatever stands there. */
function roomIn(run: Run): number {
  return Math.max(LEAST, Math.floor((run.window() - fixedTokens(run.prompt())) * SHARE));
}

/** Of what system prompt and tools leave of the window: the rest is for summary, question and what is said next. */
const SHARE = 1 / 4;
/** The best hit fits in all the same. */
const LEAST = 300;
