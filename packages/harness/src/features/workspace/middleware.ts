/** Gives the agent its thread's folders: the file tools, the shell, and a word about what lies where. */
import type { AiSdkMessage, AiSdkPart } from "@palimpsest/core/internal/message";
import { describeTool } from "@palimpsest/core/internal/message";
import { type Tool, type ToolSet, tool } from "ai";
import { z } from "zod/v4";
import type { Middleware, Run } from "../../agent/run.ts";
import { stateList } from "../../agent/tools.ts";
import type { FileCopier } from "../../thread/handle.ts";
import { FILES_COPIED, filesToCopy } from "../../thread/writer.ts";
import { placeOf, VIRTUAL_ROOT, virtualPath, withFile, writablePlace } from "./inside.ts";
import { editText, inTurn, readWhole, writeWhole } from "./read-write.ts";
import { HOST_WARNING, hostShell, type ShellResult, sandboxShell, type WorkspaceShell } from "./shell.ts";
import { ToolFailure } from "./tool-failure.ts";
import { globTool, grepTool, lsTool, readFileTool, type SeenImage, viewImageTool } from "./tools-reading.ts";
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
      const from = filesToCopy(run.thread.head().state);
      if (from === null) return;
      const { user, id } = run.thread.header;
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

// All tools of a workspace under the names the model knows them by; the one place that chooses among them.

export interface WorkspaceToolOptions {
  readonly remember: Remember;
  /** `host` runs commands on this machine; see `shell.ts`. */
  readonly bash?: "sandbox" | "host";
  /** Most characters of one `read_file`. */
  readonly readChars?: number;
}

export type WorkspaceTools = Readonly<
  Record<"ls" | "read_file" | "write_file" | "str_replace" | "glob" | "grep" | "bash" | "present_files", Tool>
>;

export function workspaceTools(workspace: Workspace, options: WorkspaceToolOptions): WorkspaceTools {
  const { remember, bash = "sandbox", readChars = 16_000 } = options;
  return {
    ls: lsTool(workspace),
    read_file: readFileTool(workspace, { maxChars: readChars }),
    write_file: writeFileTool(workspace),
    str_replace: strReplaceTool(workspace),
    glob: globTool(workspace),
    grep: grepTool(workspace),
    bash: bashTool(() => (bash === "host" ? hostShell(workspace) : sandboxShell(workspace)), bash),
    present_files: presentFilesTool(workspace, remember),
  };
}

/** Only for models that see. */
export function imageTools(
  workspace: Workspace,
  seen: (image: SeenImage) => Promise<void>,
): { readonly view_image: Tool } {
  return { view_image: viewImageTool(workspace, seen) };
}

/* `write_file`: a file's whole content, or more at its end. */

const WRITE_FILE_INPUT = z.object({
  path: z.string().describe("The file; relative paths start in /mnt/user-data/workspace."),
  content: z.string(),
  append: z.boolean().default(false).describe("Add to the end instead of replacing."),
});

function writeFileTool(workspace: Workspace): Tool {
  return tool({
    description: "Write a text file, replacing what is there, or add to its end. Missing folders are made.",
    metadata: describeTool({ act: "write", text: "content" }),
    inputSchema: WRITE_FILE_INPUT,
    execute: async ({ path, content, append = false }): Promise<string> => {
      const place = writablePlace(workspace, path);
      const shownPath = virtualPath(place);
      return inTurn(workspace.roots[place.root].directory + shownPath, async () => {
        const before = append ? await readWhole(workspace, place, "or-empty") : "";
        await writeWhole(workspace, place, before + content);
        const bytes = Buffer.byteLength(content);
        return append ? `Added ${bytes} bytes to ${shownPath}.` : `Wrote ${bytes} bytes to ${shownPath}.`;
      });
    },
  });
}

/* `str_replace`: one exact passage of a file by another. */

const STR_REPLACE_INPUT = z.object({
  path: z.string().describe("The file; relative paths start in /mnt/user-data/workspace."),
  old_str: z.string().describe("The exact text, white space included."),
  new_str: z.string(),
  replace_all: z.boolean().default(false),
});

function strReplaceTool(workspace: Workspace): Tool {
  return tool({
    description: "Replace an exact passage of a text file. It must occur once, unless replace_all is set.",
    metadata: describeTool({ act: "edit", text: "new_str" }),
    inputSchema: STR_REPLACE_INPUT,
    execute: async ({ path, old_str, new_str, replace_all = false }): Promise<string> => {
      const place = writablePlace(workspace, path);
      const shownPath = virtualPath(place);
      return inTurn(workspace.roots[place.root].directory + shownPath, async () => {
        const text = await readWhole(workspace, place, "or-fail");
        const edited = editText(text, old_str, { by: new_str, all: replace_all });
        if (edited.kind === "unchanged") throw new ToolFailure(`${shownPath} was not changed: ${edited.problem}`);
        await writeWhole(workspace, place, edited.text);
        return `Replaced ${edited.count === 1 ? "one passage" : `${edited.count} passages`} in ${shownPath}.`;
      });
    },
  });
}

/* `bash`: one command, its output and exit code, and what cut it short if something did. */

const MAX_OUTPUT = 4 << 20;
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

const BASH_INPUT = z.object({
  command: z.string().min(1),
  timeout_seconds: z.number().positive().max(MAX_SECONDS).default(DEFAULT_SECONDS),
});

/** The shell is opened by the first command. */
function bashTool(open: () => WorkspaceShell, kind: "sandbox" | "host"): Tool {
  let shell: WorkspaceShell | null = null;
  const where =
    kind === "sandbox"
      ? "in a sandboxed bash with the usual text tools (grep, sed, awk, jq, find, sort, tar, sqlite3, ...), without network, compilers or other programs"
      : "on the host machine";
  return tool({
    description: `Run a command ${where}. It starts in /mnt/user-data/workspace; files persist, variables and the current folder don't.`,
    metadata: describeTool({ act: "run", text: "command" }),
    inputSchema: BASH_INPUT,
    execute: async ({ command, timeout_seconds = DEFAULT_SECONDS }, { abortSignal }): Promise<string> => {
      const signal = abortSignal ?? new AbortController().signal;
      const timeoutMs = timeout_seconds * 1000;
      shell ??= open();
      const result = await shell(command, { timeoutMs, maxOutputBytes: MAX_OUTPUT, signal });
      return describe(result, timeout_seconds);
    },
  });
}

function describe({ stdout, stderr, exitCode, cut }: ShellResult, seconds: number): string {
  const cuts = {
    time: `[stopped: the command did not end within ${seconds} seconds]`,
    output: `[stopped: the command printed more than ${MAX_OUTPUT >> 20} MB; redirect it to a file or filter it]`,
    work: "[stopped: the command met a limit of the sandbox; do less at once]",
  };
  const parts = [
    stdout,
    stderr === "" ? "" : `[stderr]\n${stderr}`,
    cut === null ? "" : cuts[cut],
    exitCode === 0 ? "" : `[exit code: ${exitCode}]`,
  ];
  const text = parts.filter((part) => part !== "").map((part) => part.replace(/\n$/, ""));
  return text.length === 0 ? "(no output)" : text.join("\n");
}

/* `present_files`: hands files to the user. What is presented exists, and stands in the thread's state once. */

/** Writes to the thread's state; `artifacts` there only grow, each path once. */
type Remember = (patch: Readonly<Record<string, unknown>>) => Promise<void>;

const PRESENT_FILES_INPUT = z.object({ paths: z.array(z.string()).min(1).max(100) });

function presentFilesTool(workspace: Workspace, remember: Remember): Tool {
  return tool({
    description: `Show finished files to the user. They must lie in ${VIRTUAL_ROOT}/outputs.`,
    metadata: describeTool({ act: "none" }),
    inputSchema: PRESENT_FILES_INPUT,
    execute: async ({ paths }): Promise<string> => {
      const presented = [...new Set(await Promise.all(paths.map((path) => presentable(workspace, path))))];
      await remember({ artifacts: presented });
      return `Presented: ${presented.join(", ")}`;
    },
  });
}

async function presentable(workspace: Workspace, path: string): Promise<string> {
  const place = placeOf(path);
  const shownPath = virtualPath(place);
  if (place.root !== "outputs") {
    throw new ToolFailure(`${shownPath} is not in ${VIRTUAL_ROOT}/outputs: copy it there first, then present it.`);
  }
  await withFile(workspace, place, async () => {});
  return shownPath;
}
