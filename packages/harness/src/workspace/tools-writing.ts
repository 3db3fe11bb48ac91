/** All tools of a workspace under the names the model knows them by; the one place that chooses among them. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../tool-facts.ts";
import { placeOf, VIRTUAL_ROOT, virtualPath, withFile, writablePlace } from "./inside.ts";
import { editText, inTurn, readWhole, writeWhole } from "./read-write.ts";
import { hostShell, type Shell, type ShellResult, sandboxShell } from "./shell.ts";
import { ToolFailure } from "./tool-failure.ts";
import { globTool, grepTool, lsTool, readFileTool, type SeenImage, viewImageTool } from "./tools-reading.ts";
import type { Workspace } from "./workspace.ts";

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
    bash: bashTool(bash === "host" ? hostShell(workspace) : sandboxShell(workspace), bash),
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
    metadata: toolFacts({ act: "write", text: "content" }),
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
    metadata: toolFacts({ act: "edit", text: "new_str" }),
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

function bashTool(shell: Shell, kind: "sandbox" | "host"): Tool {
  const where =
    kind === "sandbox"
      ? "in a sandboxed bash with the usual text tools (grep, sed, awk, jq, find, sort, tar, sqlite3, ...), without network, compilers or other programs"
      : "on the host machine";
  return tool({
    description: `Run a command ${where}. It starts in /mnt/user-data/workspace; files persist, variables and the current folder don't.`,
    metadata: toolFacts({ act: "run", text: "command" }),
    inputSchema: BASH_INPUT,
    execute: async ({ command, timeout_seconds = DEFAULT_SECONDS }, { abortSignal }): Promise<string> => {
      const signal = abortSignal ?? new AbortController().signal;
      const timeoutMs = timeout_seconds * 1000;
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
    metadata: toolFacts({ act: "none" }),
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
