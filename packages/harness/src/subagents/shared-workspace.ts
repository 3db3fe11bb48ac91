/** Which folders a run works in: its thread's, or for a child its parent's files and a past of its own. */
import type { ThreadHeader } from "@palimpsest/core/log";
import { subagentWorkspace, threadWorkspace, type Workspace } from "../workspace/workspace.ts";

export function workspaceFor(base: string, thread: ThreadHeader): Workspace {
  const { user, kind, parent } = thread;
  if (kind !== "subagent" || parent === null) return threadWorkspace(base, thread);
  return subagentWorkspace(threadWorkspace(base, { user, id: parent }), base, thread);
}
