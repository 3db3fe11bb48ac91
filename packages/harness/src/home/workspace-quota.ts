/** What a thread's files may take, as the configuration says it. */
import type { Quota } from "../workspace/workspace.ts";
import type { ConfigFile } from "./schema.ts";

/** Null: no limit can be kept where commands run on the host. */
export function workspaceQuota({ limits, workspace }: Pick<ConfigFile, "limits" | "workspace">): Quota | null {
  if (workspace.host_bash) return null;
  return { bytes: Math.floor(limits.workspace_megabytes * (1 << 20)), entries: limits.workspace_files };
}
