/**
 * What a sub-agent is: what it is for, what it is told, what it may use and how far it may go. A spec runs nothing; that
 * is the executor's. The built-ins are here, whole.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ThreadHeader, ThreadName } from "@palimpsest/core/internal/log";
import type { AgentOptions } from "../../agent/agent.ts";
import type { OutputSpec } from "../../agent/input.ts";
import type { Middleware } from "../../agent/run.ts";
import type { ConfigFile } from "../../home/schema.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../../home-folders.ts";
import { pricingOf } from "../../models/facts.ts";
import { resolveModel } from "../../models/resolve.ts";
import { subagentWorkspace, threadWorkspace, type Workspace } from "../workspace/workspace.ts";

/** A model with what is known about it: a child never uses its parent's window for a model of its own. */
export type SubagentModel = Pick<
  AgentOptions,
  "model" | "window" | "baseUrl" | "temperature" | "maxOutputTokens" | "providerOptions" | "counter" | "prices"
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

/* The sub-agents a parent may name: the built-ins, and those given, which may replace a built-in. */

export interface Registry {
  readonly names: readonly string[];
  find(name: string): SubagentSpec | undefined;
  /** One line each, for the tool's description. */
  describe(): string;
}

export function createRegistry(given: readonly SubagentSpec[] = []): Registry {
  const specs = new Map<string, SubagentSpec>();
  for (const spec of [GENERAL_PURPOSE, BASH, ...given]) {
    if (!NAME.test(spec.name)) {
      throw new RangeError(
        `a sub-agent can't be named ${JSON.stringify(spec.name)}: letters, digits, - and _, at most 64, first a letter or digit`,
      );
    }
    specs.set(spec.name, spec);
  }
  return {
    names: [...specs.keys()],
    find: (name) => specs.get(name),
    describe: () => [...specs.values()].map(({ name, description }) => `- ${name}: ${description}`).join("\n"),
  };
}

/** A name becomes part of a thread's header, as other agents' names do. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/* The `subagents:` block of a configuration as the middleware takes it. */

type AgentFile = ConfigFile["subagents"]["agents"][string];

/** `parentModel`: the name of the parent's, for agents that don't name one. */
export function subagentsFromConfig(
  config: ConfigFile,
  parentModel: string | null = null,
): SubagentLimits & { readonly agents: readonly SubagentSpec[] } {
  const { agents, ...file } = config.subagents;
  return {
    maxTurns: file.max_turns,
    maxConcurrent: file.max_concurrent,
    maxPerRun: file.max_per_run,
    timeoutSeconds: file.timeout_seconds,
    tokenBudget: file.token_budget,
    resultTokens: file.result_tokens,
    retentionDays: file.retention_days,
    agents: Object.entries(agents).map(([name, agent]) => ({
      name,
      ...described(name, agent),
      disallowedTools: agent.disallowed_tools,
      skills: agent.skills,
      model: config.models.length === 0 ? null : once(() => modelOf(config, agent, parentModel)),
      maxTurns: agent.max_turns,
      timeoutSeconds: agent.timeout_seconds,
      tokenBudget: agent.token_budget,
    })),
  };
}

/** A built-in agent whose limits alone are set stays what it is. */
function described(name: string, agent: AgentFile): Pick<SubagentSpec, "description" | "systemPrompt" | "tools"> {
  const builtIn = [GENERAL_PURPOSE, BASH].find((one) => one.name === name);
  if (agent.description === undefined && builtIn !== undefined) {
    const { description, systemPrompt, tools = null } = builtIn;
    return { description, systemPrompt: agent.system_prompt ?? systemPrompt, tools: agent.tools ?? tools };
  }
  return { description: agent.description ?? "", systemPrompt: agent.system_prompt, tools: agent.tools };
}

async function modelOf(config: ConfigFile, agent: AgentFile, parentModel: string | null): Promise<SubagentModel> {
  const models = config.models.map((entry) => ({ ...entry, thinking: agent.thinking_enabled }));
  const { language, window, maxOutputTokens, baseUrl, pricing } = await resolveModel(
    { ...config, models },
    agent.model ?? parentModel,
  );
  const prices = pricingOf({ pricing });
  return {
    model: language,
    window: window.tokens,
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(baseUrl !== null && { baseUrl }),
    ...(prices !== null && { prices }),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/* Which folders a run works in: its thread's, or for a child its parent's files and a past of its own. */

export function workspaceFor(base: string, thread: ThreadHeader): Workspace {
  const { user, kind, parent } = thread;
  if (kind !== "subagent" || parent === null) return threadWorkspace(base, thread);
  return subagentWorkspace(threadWorkspace(base, { user, id: parent }), base, thread);
}

// Keeps children's whole answers where the parent's file tools can read them; the prompt gets what fits.

/** Keeps the text and returns the path the parent's model knows it by; null: there is no place for files. */
export type KeepAnswer = (parent: ThreadName, child: string, text: string) => Promise<string | null>;

interface AnswerFolder {
  /** On the disk. */
  readonly directory: string;
  /** As the model names it. */
  readonly path: string;
}

export function answerFiles(folderOf: (parent: ThreadName) => AnswerFolder): KeepAnswer {
  return async (parent, child, text) => {
    const { directory, path } = folderOf(parent);
    await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER });
    // A child's thread id is a file name by its own rules; a continued child replaces its answer.
    await writeFile(join(directory, `${child}.md`), text, { mode: PRIVATE_FILE });
    return `${path}/${child}.md`;
  };
}
