/** All tools of a workspace under the names the model knows them by; the one place that chooses among them. */
import type { Tool } from "ai";
import { hostShell } from "./host-shell.ts";
import { sandboxShell } from "./sandbox-shell.ts";
import { bashTool } from "./tools/bash.ts";
import { globTool } from "./tools/glob.ts";
import { grepTool } from "./tools/grep.ts";
import { lsTool } from "./tools/ls.ts";
import { presentFilesTool, type Remember } from "./tools/present-files.ts";
import { readFileTool } from "./tools/read-file.ts";
import { strReplaceTool } from "./tools/str-replace.ts";
import { type SeenImage, viewImageTool } from "./tools/view-image.ts";
import { writeFileTool } from "./tools/write-file.ts";
import type { Workspace } from "./workspace.ts";

export interface WorkspaceToolOptions {
  readonly remember: Remember;
  /** `host` runs commands on this machine; see `host-shell.ts`. */
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
