/** `grep`: lines that match a pattern, in one file or in all below a folder. Linear in what it reads; bounded in time. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { globMatcher, lineMatcher } from "../glob-pattern.ts";
import { type SearchOutcome, searchFiles } from "../search-files.ts";
import { VIRTUAL_ROOT } from "../virtual-path.ts";
import type { Workspace } from "../workspace.ts";

const MAX_MS = 10_000;

const INPUT = z.object({
  pattern: z.string().min(1),
  path: z.string().default(`${VIRTUAL_ROOT}/workspace`).describe("A file or a folder."),
  glob: z.string().min(1).optional().describe("Only files whose path matches, for example *.ts."),
  ignore_case: z.boolean().default(false),
  max_results: z.int().min(1).max(1000).default(100),
});

export function grepTool(workspace: Workspace): Tool {
  return tool({
    description:
      "Search text files for a regular expression (RE2 syntax); gives path:line:text. Binary files and links are passed over.",
    metadata: toolFacts({ act: "list" }),
    inputSchema: INPUT,
    execute: async (input, { abortSignal }): Promise<string> => {
      const { pattern, path = `${VIRTUAL_ROOT}/workspace`, glob, ignore_case = false, max_results = 100 } = input;
      const outcome = await searchFiles(workspace, path, {
        matches: await lineMatcher(pattern, ignore_case ? "any-case" : "exact"),
        wanted: glob === undefined ? () => true : await globMatcher(glob),
        maxResults: max_results,
        signal: AbortSignal.any([AbortSignal.timeout(MAX_MS), ...(abortSignal ? [abortSignal] : [])]),
      });
      return describe(outcome, path);
    },
  });
}

function describe({ hits, files, end }: SearchOutcome, path: string): string {
  const lines = hits.map(({ path: file, line, text }) => `${file}:${line}:${text}`);
  const note = {
    complete: lines.length === 0 ? `No line matches in ${path} (${files} files searched).` : "",
    "max-results": "[there are more: narrow the pattern, the path or the glob]",
    stopped: `[the search was cut off after ${files} files: narrow the path or the glob]`,
  }[end];
  return [...lines, ...(note === "" ? [] : [note])].join("\n");
}
