/** `ls`: what a folder holds. */
import { lstat } from "node:fs/promises";
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { withFolder } from "../inside.ts";
import { ToolFailure } from "../tool-failure.ts";
import { type Place, ROOT_NAMES, resolveVirtual, VIRTUAL_ROOT, virtualPath } from "../virtual-path.ts";
import { type Listed, listFolder } from "../walk.ts";
import type { Workspace } from "../workspace.ts";

const MAX_SHOWN = 500;

const INPUT = z.object({
  path: z.string().default(`${VIRTUAL_ROOT}/workspace`).describe("The folder; relative paths start in the workspace."),
});

export function lsTool(workspace: Workspace): Tool {
  return tool({
    description: `List a folder: names, sizes, and / after folders. Folders: ${VIRTUAL_ROOT}/workspace (your files), uploads (the user's files), outputs (files for the user), history (earlier conversation, read-only), tool-outputs (long tool results, read-only).`,
    metadata: toolFacts({ act: "list" }),
    inputSchema: INPUT,
    execute: async ({ path }): Promise<string> => {
      const resolved = resolveVirtual(path);
      if (resolved.kind === "refused") throw new ToolFailure(`${resolved.problem}.`);
      if (resolved.kind === "top") return ROOT_NAMES.map((name) => `${name}/`).join("\n");
      const entries = await listFolder(workspace, resolved.place);
      if (entries.length === 0) return `${virtualPath(resolved.place)} is empty.`;
      const lines = await describe(workspace, resolved.place, entries.slice(0, MAX_SHOWN));
      const more = entries.length - lines.length;
      return [...lines, ...(more > 0 ? [`[${more} more entries: list a subfolder, or use glob]`] : [])].join("\n");
    },
  });
}

async function describe(workspace: Workspace, place: Place, entries: readonly Listed[]): Promise<string[]> {
  return withFolder(workspace, place, (folder) =>
    Promise.all(
      entries.map(async ({ name, kind }) => {
        if (kind === "folder") return `${name}/`;
        if (kind === "link") return `${name} (a symbolic link: not followed)`;
        const stats = await lstat(folder.at(name)).catch(() => null);
        return stats === null ? `${name} (vanished)` : `${name} (${stats.size} bytes)`;
      }),
    ),
  );
}
