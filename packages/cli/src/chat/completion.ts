/** What a line that is being typed could become: a command, or the path of a file after `@` and `/upload`. */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { commandNames } from "./slash.ts";

/** Each is the text before the cursor with its end completed. */
export async function completions(before: string): Promise<readonly string[]> {
  if (/^\/[a-z]*$/.test(before)) {
    const fitting = commandNames().filter((name) => name.startsWith(before));
    return fitting.length > 0 ? fitting : commandNames();
  }
  const path = /^\/upload\s+(.*)$/s.exec(before)?.[1] ?? /(?:^|\s)@(\S*)$/.exec(before)?.[1];
  if (path === undefined) return [];
  const start = before.slice(0, before.length - path.length);
  return (await pathsLike(path)).map((match) => start + match);
}

async function pathsLike(path: string): Promise<string[]> {
  const folder = path.endsWith("/") ? path : dirname(path);
  const entries = await readdir(folder === "" ? "." : folder, { withFileTypes: true }).catch(() => []);
  const paths = entries.map((entry) => {
    const full = path.includes("/") ? join(folder, entry.name) : entry.name;
    return entry.isDirectory() ? `${full}/` : full;
  });
  return paths
    .filter((one) => one.startsWith(path))
    .toSorted()
    .slice(0, MOST);
}

const MOST = 50;
