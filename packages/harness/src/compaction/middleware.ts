/**
 * Compaction as middleware. Automatic: before every model call the request is measured, and where a threshold is met
 * the thread is compacted first; its settings also hold for compactions that a person or the agent asks for. And as
 * a tool: the agent asks, and it happens before the next model call, when every call of the step has its result in
 * the log.
 */
import { describeTool } from "@palimpsest/core/internal/message";
import { tool } from "ai";
import { z } from "zod/v4";
import type { Summarizer } from "../agent/model.ts";
import type { Middleware } from "../agent/run.ts";
import { type Summarization, type SummarizationOptions, summarizationFromOptions } from "./summarization.ts";

export interface SummarizationMiddlewareOptions extends SummarizationOptions {
  /** Who writes the summaries: by default the agent's own model. */
  readonly summarizer?: Summarizer;
}

export function summarization({ summarizer = "agent", ...options }: SummarizationMiddlewareOptions = {}): Middleware {
  return summarizationWith(summarizationFromOptions(options), summarizer);
}

/** Internal: the same from settings that were resolved before, such as a config file's. */
export function summarizationWith(settings: Summarization, summarizer: Summarizer = "agent"): Middleware {
  return {
    name: "summarization",
    compaction: { settings, summarizer },
    async beforeModel(run) {
      if (settings.automatic) await run.compact({ cause: "automatic", signal: run.signal });
    },
  };
}

const WISH = z.object({ focus: z.string().optional().describe("What the summary should keep in view") });

export function compactTool(): Middleware {
  const wanted = new Map<string, string | null>();
  return {
    name: "compact-tool",
    brings: ["compact_conversation"],
    tools: ({ runId }) => ({
      compact_conversation: tool({
        description:
          "Replace the older part of this conversation by a summary, to make room. Nothing is lost: the summary says where the messages are. Use it before long work, or when a subject is finished.",
        metadata: describeTool({ act: "none" }),
        inputSchema: WISH,
        execute: ({ focus }) => {
          wanted.set(runId, focus ?? null);
          return "The conversation will be compacted before your next step.";
        },
      }),
    }),
    async beforeModel(run) {
      const focus = wanted.get(run.runId);
      if (focus === undefined) return;
      wanted.delete(run.runId);
      await run.compact({ cause: "manual", signal: run.signal, ...(focus === null ? {} : { focus }) });
    },
    writesLast: () => false,
    afterAgent: ({ runId }) => void wanted.delete(runId),
  };
}
