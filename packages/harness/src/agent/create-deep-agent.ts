/** The default wiring of a whole assistant: which middleware, in which order. The only file that names them all. */
import { type SummarizationOptions, summarizationFromOptions } from "../config/summarization.ts";
import { clarification } from "../middleware/clarification.ts";
import { compactTool } from "../middleware/compact-tool.ts";
import { danglingCalls } from "../middleware/dangling-calls.ts";
import { recall } from "../middleware/recall.ts";
import { summarizationWith } from "../middleware/summarization.ts";
import { threadData } from "../middleware/thread-data.ts";
import { title } from "../middleware/title.ts";
import { type Agent, type AgentOptions, createAgent } from "./create-agent.ts";
import type { Middleware } from "./middleware.ts";
import type { Summarizer } from "./summarizer.ts";

export interface DeepAgentOptions extends AgentOptions {
  /** Null turns automatic compaction off. */
  readonly summarization?: SummarizationOptions | null;
  /** Who writes the summaries: by default the agent's own model; null: they are extracted without one. */
  readonly summarizer?: Summarizer;
}

export function createDeepAgent({ summarization, summarizer = "agent", ...options }: DeepAgentOptions): Agent {
  const settings = summarizationFromOptions(summarization ?? {});
  const middleware: Middleware[] = [
    threadData(),
    danglingCalls(),
    summarizationWith({ ...settings, automatic: summarization !== null }, summarizer),
    compactTool(),
    recall(),
    title(),
    clarification(),
    ...(options.middleware ?? []),
  ];
  return createAgent({ ...options, middleware });
}
