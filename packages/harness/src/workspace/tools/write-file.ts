/** `write_file`: a file's whole content, or more at its end. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { writablePlace } from "../inside.ts";
import { readWhole } from "../read-whole.ts";
import { inTurn } from "../turns.ts";
import { virtualPath } from "../virtual-path.ts";
import type { Workspace } from "../workspace.ts";
import { writeWhole } from "../write-whole.ts";

const INPUT = z.object({
  path: z.string().describe("The file; relative paths start in /mnt/user-data/workspace."),
  content: z.string(),
  append: z.boolean().default(false).describe("Add to the end instead of replacing."),
});

export function writeFileTool(workspace: Workspace): Tool {
  return tool({
    description: "Write a text file, replacing what is there, or add to its end. Missing folders are made.",
    metadata: toolFacts({ act: "write", text: "content" }),
    inputSchema: INPUT,
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
