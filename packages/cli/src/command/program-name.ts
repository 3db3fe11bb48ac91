/** How this program is called where the person stands: a line to copy must work there. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export function programName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  // npm puts a project's own programs on the path of what it runs; the person's shell doesn't know them.
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.endsWith(OF_PROJECT));
  return folders.some((folder) => existsSync(join(folder, "palimpsest"))) ? "palimpsest" : "npx palimpsest";
}

const OF_PROJECT = join("node_modules", ".bin");
