/** Gives the agent its thread's folders: the file tools, the shell, and a word about what lies where. */
import type { ToolSet } from "ai";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { HOST_WARNING } from "./host-shell.ts";
import { prepareWorkspace, type Workspace } from "./workspace.ts";
import { workspaceTools } from "./workspace-tools.ts";

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
