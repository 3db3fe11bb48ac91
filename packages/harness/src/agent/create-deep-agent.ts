/** The default wiring of a whole assistant: which middleware, in which order. The only file that names them all. */
import type { SummaryWriter } from "../compaction/summary-writer.ts";
import type { SummarizationOptions } from "../config/summarization.ts";
import { clarification } from "../middleware/clarification.ts";
import { compactTool } from "../middleware/compact-tool.ts";
import { danglingCalls } from "../middleware/dangling-calls.ts";
import { recall } from "../middleware/recall.ts";
import { summarization } from "../middleware/summarization.ts";
import { threadData } from "../middleware/thread-data.ts";
import { title } from "../middleware/title.ts";
import { type Agent, type AgentOptions, createAgent } from "./create-agent.ts";
import type { Middleware } from "./middleware.ts";

export interface DeepAgentOptions extends AgentOptions {
  /** Null turns automatic compaction off. */
  readonly summarization?: SummarizationOptions | null;
  /** Who writes the summaries; null: they are extracted without a model. */
  readonly summaryWriter?: SummaryWriter | null;
}

export function createDeepAgent({ summarization: settings, summaryWriter, ...options }: DeepAgentOptions): Agent {
  const writer = summaryWriter ?? null;
  const middleware: Middleware[] = [
    threadData(),
    danglingCalls(),
    ...(settings === null ? [] : [summarization({ ...settings, writer })]),
    compactTool(),
    recall(),
    title(),
    clarification(),
    ...(options.middleware ?? []),
  ];
  return createAgent({ ...options, middleware });
}
