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
  const upload = /^(\/upload\s+)(.*)$/s.exec(before);
  if (upload !== null) return (await pathsLike(upload[2]!)).map((match) => upload[1] + match);
  const at = lastMention(before);
  const typed = before.slice(at + 1);
  const quote = typed.startsWith('"') ? '"' : "";
  const path = typed.slice(quote.length);
  if (at < 0 || /["\n]/.test(path)) return [];
  return (await pathsLike(path)).map((match) => `${before.slice(0, at)}@${mentioned(match, quote)}`);
}

/** Where the last @ stands that begins a word; its path may hold blanks. -1: nowhere. */
function lastMention(before: string): number {
  let at = before.lastIndexOf("@");
  while (at > 0 && !/\s/.test(before[at - 1]!)) at = before.lastIndexOf("@", at - 1);
  return at;
}

/** A folder's quotes stay open, since its path goes on. */
function mentioned(path: string, quote: string): string {
  if (quote === "" && !/\s/.test(path)) return path;
  return path.endsWith("/") ? `"${path}` : `"${path}"`;
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
