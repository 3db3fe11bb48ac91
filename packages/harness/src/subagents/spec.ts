/**
 * What a sub-agent is: what it is for, what it is told, what it may use and how far it may go. A spec runs nothing; that
 * is the executor's. The built-ins are here, whole.
 */
import type { AgentOptions } from "../agent/agent.ts";
import type { OutputSpec } from "../agent/input.ts";
import type { Middleware } from "../agent/middleware.ts";

/** A model with what is known about it: a child never uses its parent's window for a model of its own. */
export type SubagentModel = Pick<
  AgentOptions,
  "model" | "contextWindow" | "baseUrl" | "temperature" | "maxOutputTokens" | "providerOptions" | "counter" | "prices"
>;

export interface SubagentSpec {
  /** What the parent calls it: `subagent_type`. */
  readonly name: string;
  /** When to use it, for the parent's model. */
  readonly description: string;
  readonly systemPrompt?: string | undefined;
  /** The only tools it has; null: all that children may have. */
  readonly tools?: readonly string[] | null | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /** The only skills it has; null: all. */
  readonly skills?: readonly string[] | null | undefined;
  /** Null: the parent's. As a function it is asked for when the first child needs it. */
  readonly model?: SubagentModel | (() => Promise<SubagentModel>) | null | undefined;
  /** Behind what every child has; the tools it brings, also those for one user, are held to `tools` like all others. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** It answers with data of this schema, and its parent gets that as JSON. */
  readonly output?: OutputSpec<unknown> | undefined;
  readonly maxTurns?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly tokenBudget?: number | undefined;
}

export interface SubagentLimits {
  /** Model calls of one child, where neither the call nor its spec says otherwise. */
  readonly maxTurns: number;
  /** Children running at once in this process; the rest wait in order. */
  readonly maxConcurrent: number;
  /** Children of one run. */
  readonly maxPerRun: number;
  readonly timeoutSeconds: number;
  /** Tokens that one child's model calls may take, input and output. */
  readonly tokenBudget: number;
  /** Most tokens that one child adds to its parent. */
  readonly resultTokens: number;
  readonly retentionDays: number;
}

export const SUBAGENT_LIMITS: SubagentLimits = {
  maxTurns: 20,
  maxConcurrent: 3,
  maxPerRun: 50,
  timeoutSeconds: 900,
  tokenBudget: 500_000,
  resultTokens: 2000,
  retentionDays: 30,
};

export const DEFAULT_SUBAGENT = "general-purpose";

const RULES = `You work alone on one task for another agent. Nobody can answer questions: decide, and say what you assumed.
Files are shared with that agent; your conversation is not. Your last message is all it gets: answer the task itself,
with the findings, names, numbers and paths it needs, and say what you could not do.`;

export const GENERAL_PURPOSE: SubagentSpec = {
  name: DEFAULT_SUBAGENT,
  description: "Any task of several steps: research, reading many files, analysis, writing.",
  systemPrompt: RULES,
};

export const BASH: SubagentSpec = {
  name: "bash",
  description: "Running commands whose output is long or takes many tries: builds, tests, text processing.",
  systemPrompt: `${RULES}\n\nYou work with shell commands. Report what you ran, the exit codes and the lines that matter.`,
  tools: ["bash", "ls", "read_file", "write_file", "str_replace", "glob", "grep"],
};

/** The instructions of an agent that was given none. */
export function instructionsOf(spec: SubagentSpec): string {
  return spec.systemPrompt ?? RULES;
}
