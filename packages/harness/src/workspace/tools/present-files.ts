/** `present_files`: hands files to the user. What is presented exists, and stands in the thread's state once. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { placeOf, withFile } from "../inside.ts";
import { ToolFailure } from "../tool-failure.ts";
import { VIRTUAL_ROOT, virtualPath } from "../virtual-path.ts";
import type { Workspace } from "../workspace.ts";

/** Writes to the thread's state; `artifacts` there only grow, each path once. */
export type Remember = (patch: Readonly<Record<string, unknown>>) => Promise<void>;

const INPUT = z.object({ paths: z.array(z.string()).min(1).max(100) });

export function presentFilesTool(workspace: Workspace, remember: Remember): Tool {
  return tool({
    description: `Show finished files to the user. They must lie in ${VIRTUAL_ROOT}/outputs.`,
    metadata: toolFacts({ act: "none" }),
    inputSchema: INPUT,
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
