/** `glob`: files whose path matches a pattern. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { globMatcher } from "../glob-pattern.ts";
import { VIRTUAL_ROOT, virtualPath } from "../virtual-path.ts";
import { searchStarts, walk } from "../walk.ts";
import type { Workspace } from "../workspace.ts";

const MAX_SHOWN = 500;
const WALK = { maxEntries: 100_000, maxDepth: 64 };
const MAX_MS = 10_000;

const INPUT = z.object({
  pattern: z.string().min(1),
  path: z.string().default(`${VIRTUAL_ROOT}/workspace`).describe("The folder to search."),
});

export function globTool(workspace: Workspace): Tool {
  return tool({
    description:
      "Find files by a pattern such as **/*.csv or src/{a,b}/*.ts; without a slash it matches names at any depth.",
    metadata: toolFacts({ act: "list" }),
    inputSchema: INPUT,
    execute: async ({ pattern, path = `${VIRTUAL_ROOT}/workspace` }, { abortSignal }): Promise<string> => {
      const matches = await globMatcher(pattern);
      const paths: string[] = [];
      const signal = AbortSignal.any([AbortSignal.timeout(MAX_MS), ...(abortSignal ? [abortSignal] : [])]);
      let complete = true;
      for (const start of searchStarts(path)) {
        const entries = walk(workspace, start, { ...WALK, signal });
        let step = await entries.next();
        for (; !step.done && paths.length <= MAX_SHOWN; step = await entries.next()) {
          const { kind, relative, place } = step.value;
          if (kind === "file" && matches(relative)) paths.push(virtualPath(place));
        }
        complete &&= step.done === true && step.value === "complete";
      }
      if (paths.length === 0) return `No file matches ${JSON.stringify(pattern)} in ${path}.${complete ? "" : CUT}`;
      const list = paths.slice(0, MAX_SHOWN).join("\n");
      return complete && paths.length <= MAX_SHOWN
        ? list
        : `${list}\n[not all are shown: narrow the pattern or the path]`;
    },
  });
}

const CUT = " The search was cut off: narrow the path.";
