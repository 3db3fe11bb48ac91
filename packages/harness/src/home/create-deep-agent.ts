/** The default wiring of a whole assistant: which middleware, in which order. The only file that names them all. */

import { rm } from "node:fs/promises";
import type { ThreadName } from "@palimpsest/core/internal/log";
import { type Agent, type AgentOptions, createAgent } from "../agent/agent.ts";
import type { Summarizer } from "../agent/model.ts";
import type { Middleware, Run } from "../agent/run.ts";
import { compactTool, summarizationWith } from "../compaction/middleware.ts";
import {
  type Summarization,
  type SummarizationOptions,
  summarizationFromOptions,
} from "../compaction/summarization.ts";
import type { Memory } from "../features/memory/create-memory.ts";
import { memoryFiles } from "../features/memory-tool/create-memory-tool.ts";
import { type SkillsOptions, skills } from "../features/skills/middleware.ts";
import { type SubagentsOptions, subagents } from "../features/subagents/middleware.ts";
import { answerFiles, type KeepAnswer, type SubagentModel, workspaceFor } from "../features/subagents/spec.ts";
import { type ToolOutputOptions, toolOutput } from "../features/tool-output/middleware.ts";
import { QUOTA, VIRTUAL_ROOT } from "../features/workspace/inside.ts";
import { forkedFiles, viewImage, type WorkspaceOptions, workspaceFiles } from "../features/workspace/middleware.ts";
import { fileCopier, type Quota, threadWorkspace, type Workspace } from "../features/workspace/workspace.ts";
import { threadFolder } from "../home-folders.ts";
import {
  clarification,
  danglingCalls,
  loopGuard,
  recall,
  type StandingRulesOptions,
  standingRules,
  type TitleOptions,
  threadData,
  title,
  todos,
} from "../middleware/basics.ts";
import { contextTools } from "../middleware/context-tools.ts";
import type { FileCopier } from "../thread/handle.ts";

export interface DeepAgentOptions extends AgentOptions {
  /** `false` turns automatic compaction off. Settings resolved before, such as a file's, are taken as they are. */
  readonly summarization?: SummarizationOptions | Summarization | false;
  /** Who writes the summaries: by default the agent's own model; null: they are extracted without one. */
  readonly summarizer?: Summarizer;
  /** `false`: no `task` tool. Children have the agent's tools, files and model unless told otherwise. */
  readonly subagents?: Omit<SubagentsOptions, keyof SubagentModel> | false;
  /** `false`: threads get no title. */
  readonly title?: TitleOptions | false;
  /** What else is wired by default, each to be left out by `false`: its tools and what it adds to runs are then not there. */
  readonly recall?: boolean;
  readonly todos?: boolean;
  readonly clarification?: boolean;
  readonly compactTool?: boolean;
  readonly loopGuard?: boolean;
  /** Tools for notes, a fresh window, checkpoints and folds; unless told only with `summarization: { style: "rollover" }`. */
  readonly contextTools?: boolean | undefined;
  /** What it remembers of its users, made by `createMemory(...)`; without it nothing is learned or recalled across threads. */
  readonly memory?: Middleware | Pick<Memory, "middleware">;
  /** Rules that hold in all its threads: of the agent (a plain list is that, too), of each user, of files such as AGENTS.md. */
  readonly rules?: StandingRulesOptions | readonly string[] | undefined;
  /** Folders, a shell, stored tool outputs and skills; without it the agent has no files. */
  readonly files?: DeepFilesOptions;
}

export function createDeepAgent(deepOptions: DeepAgentOptions): Agent {
  // A program in plain JavaScript may give none: createAgent says that the model is missing.
  const all = { ...deepOptions };
  const {
    recall: recalls,
    todos: plans,
    clarification: asks,
    compactTool: compacts,
    loopGuard: guards,
    contextTools: keeps,
    summarization,
    summarizer = "agent",
    subagents: delegating,
    files,
    memory,
    title: naming,
    rules,
    ...asked
  } = all;
  const standing = rules === undefined ? [] : [standingRules(rules)];
  const compacting = summarizationWith(settingsOf(summarization), summarizer);
  const own = files === undefined ? null : deepFiles(files);
  const remembering = memory !== undefined && "middleware" in memory ? memory.middleware : memory;
  const options = { ...(own === null ? {} : { history: own.history, copyFiles: own.copyFiles }), ...asked };
  const middleware: Middleware[] = [
    threadData(),
    ...(own?.workspace ?? []),
    danglingCalls(),
    ...standing,
    ...(remembering === undefined ? [] : [remembering]),
    ...(own?.skills ?? []),
    ...(delegating === false
      ? []
      : [subagents({ ...childrenOf(options, compacting, own, all, standing), ...delegating })]),
    compacting,
    ...(compacts === false ? [] : [compactTool()]),
    ...((keeps ?? compacting.compaction?.settings.policy.style === "rollover") ? [contextTools()] : []),
    ...(recalls === false ? [] : [recall({ corrected: remembering?.corrected })]),
    ...(plans === false ? [] : [todos()]),
    ...(own?.viewImage ?? []),
    ...(own?.memories ?? []),
    ...(naming === false ? [] : [title(naming)]),
    ...(asks === false ? [] : [clarification()]),
    ...(guards === false ? [] : [loopGuard()]),
    ...(options.middleware ?? []),
  ];
  return createAgent({ ...options, middleware });
}

function settingsOf(given: DeepAgentOptions["summarization"]): Summarization {
  if (given === false) return { ...summarizationFromOptions({}), automatic: false };
  return given !== undefined && "policy" in given
    ? given
    : { ...summarizationFromOptions(given ?? {}), automatic: true };
}

/** Children keep what holds for tool calls, such as asking for permission; everything else of the parent stays its own. */
function childrenOf(
  options: AgentOptions,
  compacting: Middleware,
  files: DeepFiles | null,
  wired: Pick<DeepAgentOptions, "recall" | "loopGuard">,
  standing: readonly Middleware[],
): SubagentsOptions {
  const {
    middleware: own = [],
    tools = {},
    retry,
    toolTimeoutMs,
    toolApproval,
    modelLimits,
    history,
    limits,
    sleep,
    random,
  } = options;
  // A compaction that was given stands for the default one; each model has its own window, so it serves a child as well.
  const compaction = own.findLast((one) => one.compaction !== undefined) ?? compacting;
  const guards = own.flatMap(({ name, wrapTool }) => (wrapTool === undefined ? [] : [{ name, wrapTool }]));
  return {
    ...options,
    tools,
    ...(files !== null && { keepAnswer: files.keepAnswer, forget: files.forget }),
    childMiddleware: ({ skills = null }) => [
      ...(files?.workspace ?? []),
      danglingCalls(),
      ...standing,
      ...(files?.skillsFor(skills) ?? []),
      compaction,
      ...(wired.recall === false ? [] : [recall()]),
      ...(files?.viewImage ?? []),
      ...(wired.loopGuard === false ? [] : [loopGuard()]),
      ...guards,
    ],
    child: {
      retry,
      toolTimeoutMs,
      toolApproval,
      modelLimits,
      history,
      limits,
      sleep,
      random,
    },
  };
}

/* The middleware that a workspace brings, for an agent and for its sub-agents, which work in the same folders. */

export interface DeepFilesOptions {
  /** Each thread's files are in `{base}/threads/{thread}`, another user's in `{base}/users/{user}/threads/{thread}`. */
  readonly base: string;
  /** Which folders a run works in; by default its thread's own; a sub-agent's are its parent's. */
  readonly workspace?: (run: Run) => Workspace;
  readonly bash?: WorkspaceOptions["bash"];
  /** What a thread's files may take; null: no limit. With `bash: "host"` there is none: commands write as they like. */
  readonly quota?: Quota | null;
  /** The model sees: it gets `view_image`. */
  readonly vision?: boolean;
  readonly toolOutput?: Omit<ToolOutputOptions, "workspace">;
  /** Without it there are no skills. */
  readonly skills?: SkillsOptions;
  /** Gives the agent the `memory` tool: files under `/memories` that all threads of a user share. */
  readonly memories?: boolean;
}

/** In the places they have in the order of an agent's middleware. */
interface DeepFiles {
  readonly workspace: readonly Middleware[];
  readonly skills: readonly Middleware[];
  readonly viewImage: readonly Middleware[];
  readonly memories: readonly Middleware[];
  readonly history: (threadId: string, userId: string) => string;
  /** What a fork starts with. */
  readonly copyFiles: FileCopier;
  /** For sub-agents: only the skills named. */
  readonly skillsFor: (only: readonly string[] | null) => readonly Middleware[];
  /** Where the whole answers of sub-agents are kept. */
  readonly keepAnswer: KeepAnswer;
  /** Removes all files of a thread. */
  readonly forget: (thread: ThreadName) => Promise<void>;
}

function deepFiles(options: DeepFilesOptions): DeepFiles {
  const { base, bash = "sandbox", vision = false } = options;
  const quota = bash === "host" ? null : (options.quota ?? QUOTA);
  const copier = fileCopier(base, quota);
  const given = options.workspace ?? ((run: Run) => workspaceFor(base, run.thread.header));
  const workspace = (run: Run): Workspace => ({ quota, ...given(run) });
  const skillsFor = (only: readonly string[] | null): readonly Middleware[] => {
    if (options.skills === undefined) return [];
    const all = options.skills.only ?? null;
    return [
      skills({
        ...options.skills,
        only: all === null || only === null ? (only ?? all) : only.filter((name) => all.includes(name)),
      }),
    ];
  };
  return {
    workspace: [
      forkedFiles(copier),
      workspaceFiles({ workspace, bash }),
      toolOutput({ ...options.toolOutput, workspace }),
    ],
    skills: skillsFor(null),
    skillsFor,
    viewImage: vision ? [viewImage({ workspace })] : [],
    memories: options.memories === true ? [memoryFiles(base)] : [],
    copyFiles: copier,
    history: (id, userId) => threadWorkspace(base, { user: userId, id }).roots.history.directory,
    keepAnswer: answerFiles((parent) => ({
      directory: threadWorkspace(base, parent).roots["tool-outputs"].directory,
      path: `${VIRTUAL_ROOT}/tool-outputs`,
    })),
    forget: (thread) => rm(threadFolder(base, thread), { recursive: true, force: true }),
  };
}
