/** The tools that give the model back what a summary has replaced: search, and word for word by number. */
import type { BaseMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, type ToolRuntime, tool } from "@langchain/core/tools";
import type { Runtime } from "langchain";
import { findText, readText } from "palimpsest/internal/recall";
import type { ConversationPool, PooledPlace } from "./conversation-pool.ts";

/** Most tokens of one answer, roughly. */
const TOKENS = 2000;

const QUERY = {
  type: "object" as const,
  additionalProperties: true,
  properties: { query: { type: "string" as const, description: "What to look for: names, words, a question" } },
  required: ["query"],
};

const RANGE = {
  type: "object" as const,
  additionalProperties: true,
  properties: {
    from: { type: "integer" as const, minimum: 1 },
    to: { type: "integer" as const, minimum: 1, description: "Last message; without it only the first" },
    offset: {
      type: "integer" as const,
      minimum: 0,
      description: "Skip this many characters, to go on in a long message",
    },
  },
  required: ["from"],
};

export function recallTools(pool: ConversationPool): readonly StructuredToolInterface[] {
  const recall = (input: unknown, runtime: ToolRuntime): Promise<string> =>
    pool.using(placeOf(runtime), async ({ deps, threadId }) => {
      const { query } = input as { readonly query: string };
      return findText(deps, await threadId(), query, { tokens: TOKENS });
    });
  const read = (input: unknown, runtime: ToolRuntime): Promise<string> =>
    pool.using(placeOf(runtime), async ({ deps, threadId }) => {
      const { from, to = from, offset = 0 } = input as { readonly from: number; to?: number; offset?: number };
      return readText(deps, await threadId(), { from, to, offset, characters: TOKENS * 4 });
    });
  return [
    tool(recall, {
      name: "recall",
      description:
        "Search everything said earlier in this conversation, also what a summary has replaced. Returns messages with their numbers; read more around one with recall_read.",
      schema: QUERY,
    }),
    tool(read, {
      name: "recall_read",
      description:
        "Read messages of this conversation word for word by their numbers, as recall and summaries give them.",
      schema: RANGE,
    }),
  ];
}

function placeOf(runtime: ToolRuntime): PooledPlace {
  const { messages = [] } = (runtime.state ?? {}) as { readonly messages?: readonly BaseMessage[] };
  return { runtime: runtime as unknown as Runtime, messages, model: null, window: null };
}
