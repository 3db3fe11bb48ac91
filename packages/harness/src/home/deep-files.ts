/**
 * The part of the default wiring that concerns files: which middleware a workspace brings, for an agent and for those it
 * delegates to, who work in the same folders.
 */
import { rm } from "node:fs/promises";
import type { ThreadName } from "@palimpsest/core/log";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { threadFolder } from "../home-folders.ts";
import { memoryFiles } from "../memory-tool/middleware.ts";
import { type SkillsOptions, skills } from "../skills/middleware.ts";
import { answerFiles, type KeepAnswer } from "../subagents/answer-files.ts";
import { workspaceFor } from "../subagents/shared-workspace.ts";
import type { FileCopier } from "../thread/fork-files.ts";
import { type ToolOutputOptions, toolOutput } from "../tool-output/middleware.ts";
import { fileCopier } from "../workspace/file-copier.ts";
import { forkedFiles } from "../workspace/fork-middleware.ts";
import { viewImage } from "../workspace/image-middleware.ts";
import { type WorkspaceOptions, workspaceFiles } from "../workspace/middleware.ts";
import { adoptOldFolders } from "../workspace/old-folders.ts";
import { QUOTA } from "../workspace/quota.ts";
import { VIRTUAL_ROOT } from "../workspace/virtual-path.ts";
import { type Quota, threadWorkspace, type Workspace } from "../workspace/workspace.ts";

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
export interface DeepFiles {
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

export function deepFiles(options: DeepFilesOptions): DeepFiles {
  const { base, bash = "sandbox", vision = false } = options;
  const quota = bash === "host" ? null : (options.quota ?? QUOTA);
  const copier = fileCopier(base, quota);
  const given = options.workspace ?? ((run: Run) => workspaceFor(base, run.conversation.header));
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
      { name: "old-folders", beforeAgent: ({ deps }) => adoptOldFolders(base, deps.store) },
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
