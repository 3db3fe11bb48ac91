/** A list of what is to be done, for the agent to keep itself on course. It is state: a compaction can't lose it [F21]. */
import { tool } from "ai";
import { z } from "zod/v4";
import type { Middleware } from "../agent/middleware.ts";
import { toolFacts } from "../tool-facts.ts";

const todo = z.object({
  content: z.string().min(1).max(500),
  status: z.enum(["pending", "in_progress", "completed"]).default("pending"),
});

const INPUT = z.object({ todos: z.array(todo).max(100) });

export function todos(): Middleware {
  return {
    name: "todos",
    brings: ["write_todos"],
    tools: (run) => ({
      write_todos: tool({
        description:
          "Write the list of steps of a task that takes several, and keep it up to date: one in_progress, finished ones completed. Replaces the whole list.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: INPUT,
        execute: async ({ todos: list }) => {
          await run.commit([{ kind: "state", patch: { todos: list.length === 0 ? null : list } }]);
          if (list.length === 0) return "The list is empty now.";
          return list.map(({ content, status }) => `[${status}] ${content}`).join("\n");
        },
      }),
    }),
  };
}
