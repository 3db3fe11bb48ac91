/** Standing rules in files such as AGENTS.md. To name a file is to trust its words; files are read anew each time. */
import { readFile } from "node:fs/promises";
import { mayBecomeRule } from "@palimpsest/core/internal/memory";
import { standingSentences } from "@palimpsest/core/internal/recall";

export async function rulesInFiles(paths: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(paths.map(rulesIn))).flat();
}

/** Longer files are read as far as this. */
const MOST_FILE_CHARACTERS = 50_000;

/** The standing instructions of a file, line by line and without its code; none where there is no such file. */
async function rulesIn(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  const outside = text.slice(0, MOST_FILE_CHARACTERS).split(/^ {0,3}(?:```|~~~).*$/m);
  const lines = outside.filter((_, index) => index % 2 === 0).flatMap((block) => block.split("\n"));
  const bare = lines.map((line) => line.replace(/^\s*(?:[-*+]|\d{1,3}[.)])\s+/, "").trim());
  return bare
    .flatMap((line) => (BINDING.test(line) ? [line] : standingSentences(line).map((one) => one.text)))
    .filter(mayBecomeRule);
}

/** In a file that holds rules such a line is one, whatever follows. */
const BINDING = /^(?:always|never|do not|don't|must not|you must|avoid)\b/i;
