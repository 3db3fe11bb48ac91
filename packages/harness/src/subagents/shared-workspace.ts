/** Which folders a run works in: its thread's, or for a child its parent's files and a past of its own. */
import type { ThreadHeader } from "@palimpsest/core/log";
import { subagentWorkspace, threadWorkspace, type Workspace } from "../workspace/workspace.ts";

export function workspaceFor(base: string, { id, kind, parent }: ThreadHeader): Workspace {
  if (kind !== "subagent" || parent === null) return threadWorkspace(base, id);
  return subagentWorkspace(threadWorkspace(base, parent), base, id);
}
