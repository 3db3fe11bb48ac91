/** Gives the agent its thread's folders: the file tools, the shell, and a word about what lies where. */

import type { AiSdkMessage, AiSdkPart } from "@palimpsest/core/message";
import type { ToolSet } from "ai";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { stateList } from "../agent/tools.ts";
import { FILES_COPIED, type FileCopier, filesToCopy } from "../thread/handle.ts";
import { HOST_WARNING } from "./shell.ts";
import type { SeenImage } from "./tools-reading.ts";
import { imageTools, workspaceTools } from "./tools-writing.ts";
import { prepareWorkspace, type Workspace } from "./workspace.ts";

export interface WorkspaceOptions {
  readonly workspace: (run: Run) => Workspace;
  /** `host` runs commands on this machine with your rights, and warns about it. */
  readonly bash?: "sandbox" | "host";
  /** Most characters of one `read_file`. */
  readonly readChars?: number;
}

const WORKSPACE_PROMPT = `Files are in /mnt/user-data: your own in workspace, the user's in uploads, what you make for the user in outputs (show it with present_files). history holds the earlier conversation and tool-outputs long tool results; both are read-only.`;

export function workspaceFiles({ workspace, ...options }: WorkspaceOptions): Middleware {
  if (options.bash === "host") process.emitWarning(HOST_WARNING, { code: "PALIMPSEST_HOST_BASH" });
  // One shell per run: the prompt and its tools are rendered anew after each compaction.
  const toolSets = new WeakMap<Run, ToolSet>();
  return {
    name: "workspace",
    // A folder that can't be made is no reason not to answer: the tool that needs it will say so.
    beforeAgent: (run) => prepareWorkspace(workspace(run)).catch(() => {}),
    prompt: () => [{ slot: "instructions", text: WORKSPACE_PROMPT }],
    tools(run) {
      const cached = toolSets.get(run);
      if (cached !== undefined) return cached;
      const remember = async (patch: Readonly<Record<string, unknown>>): Promise<void> => {
        await run.commit([{ kind: "state", patch }]);
      };
      const tools = { ...workspaceTools(workspace(run), { ...options, remember }) };
      toolSets.set(run, tools);
      return tools;
    },
  };
}

/* Gives a fork the files that a killed process didn't get to copy, before its first run works with them. */

/** Internal: the deep agent adds it where it gives forks their files. */
export function forkedFiles({ copy }: FileCopier): Middleware {
  return {
    name: "forked-files",
    async beforeAgent(run) {
      const from = filesToCopy(run.conversation.head().state);
      if (from === null) return;
      const { user, id } = run.conversation.header;
      await copy({ user, id: from }, { user, id });
      await run.commit([{ kind: "state", patch: FILES_COPIED }]);
    },
  };
}

/*
 * Lets a model that sees look at images of the workspace, and notes in the thread's state which ones it has seen. In the
 * log an image stands in its tool's result; in the request it stands in a user turn behind it, because not every
 * provider takes images in results, and some would send them as text.
 */

export interface ViewImageOptions {
  readonly workspace: (run: Run) => Workspace;
}

export function viewImage({ workspace }: ViewImageOptions): Middleware {
  const viewed = stateList<SeenImage>("viewedImages", ({ path }) => path);
  return {
    name: "view-image",
    tools: (run) => ({ ...imageTools(workspace(run), (image) => viewed.add(run, image)) }),
    wrapModel: (request, next) => next({ ...request, messages: request.messages.flatMap(withImagesBehind) }),
  };
}

type ResultBlock = Extract<AiSdkPart, { type: "tool-result" }>;

function withImagesBehind(message: AiSdkMessage): AiSdkMessage[] {
  if (message.role !== "tool" || typeof message.content === "string") return [message];
  const images: AiSdkPart[] = [];
  const content = message.content.map((block) => {
    if (block.type !== "tool-result" || block.output.type !== "content") return block;
    const files = block.output.value.filter((part) => part.type === "file");
    if (files.length === 0) return block;
    images.push(...(files as AiSdkPart[]));
    return withoutFiles(block);
  });
  if (images.length === 0) return [message];
  return [
    { ...message, content },
    { role: "user", content: [{ type: "text", text: "The images of these results:" }, ...images] },
  ];
}

function withoutFiles(block: ResultBlock): ResultBlock {
  if (block.output.type !== "content") return block;
  const texts = block.output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { ...block, output: { type: "text", value: [...texts, "[The image follows.]"].join("\n") } };
}

/** What kind of image a file is, by its first bytes; its name proves nothing. */
