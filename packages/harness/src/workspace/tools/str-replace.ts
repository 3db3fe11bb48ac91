/** `str_replace`: one exact passage of a file by another. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { editText } from "../edit-text.ts";
import { writablePlace } from "../inside.ts";
import { readWhole } from "../read-whole.ts";
import { ToolFailure } from "../tool-failure.ts";
import { inTurn } from "../turns.ts";
import { virtualPath } from "../virtual-path.ts";
import type { Workspace } from "../workspace.ts";
import { writeWhole } from "../write-whole.ts";

const INPUT = z.object({
  path: z.string().describe("The file; relative paths start in /mnt/user-data/workspace."),
  old_str: z.string().describe("The exact text, white space included."),
  new_str: z.string(),
  replace_all: z.boolean().default(false),
});

export function strReplaceTool(workspace: Workspace): Tool {
  return tool({
    description: "Replace an exact passage of a text file. It must occur once, unless replace_all is set.",
    metadata: toolFacts({ act: "edit", text: "new_str" }),
    inputSchema: INPUT,
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
