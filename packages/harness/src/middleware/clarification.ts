/**
 * Lets the agent ask the person instead of guessing. The call ends the run with the question; the next user message is
 * the answer.
 */
import { tool } from "ai";
import { z } from "zod/v4";
import type { Middleware } from "../agent/middleware.ts";
import { toolFacts } from "../tool-facts.ts";

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly clarification: {
      readonly type: "question-ask";
      readonly question: string;
      readonly options: readonly string[];
    };
  }
  interface FeatureEnds {
    /** The agent asked the person something; the next user message is the answer. */
    readonly clarification: { readonly kind: "asked"; readonly question: string; readonly options: readonly string[] };
  }
}

const QUESTION = z.object({
  question: z.string().min(1),
  options: z.array(z.string()).optional().describe("Answers to choose from, if there are a few"),
});

export function clarification(): Middleware {
  return {
    name: "clarification",
    brings: ["ask_clarification"],
    tools: (run) => ({
      ask_clarification: tool({
        description:
          "Ask the user when the request is ambiguous or a choice is theirs to make, instead of guessing. Ends your turn; their next message is the answer.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: QUESTION,
        execute: ({ question, options = [] }) => {
          run.emit({ type: "question-ask", question, options });
          run.finish({ kind: "asked", question, options });
          return "The question was put to the user. Their next message is the answer.";
        },
      }),
    }),
  };
}
