/**
 * File patterns (`*`, `?`, `**`, `[abc]`, `{a,b}`) and regular expressions, matched in time linear in the text whatever
 * the pattern is: both run on RE2's algorithm, which has no backtracking. Its tables are read at the first search: most
 * runs never make one.
 */
import { errorText } from "@palimpsest/core/internal/text";
import type { RE2JS } from "re2js";
import { ToolFailure } from "./tool-failure.ts";

export type Matches = (text: string) => boolean;

/** Matches paths relative to the searched folder; a pattern without a slash matches the name at any depth. */
export async function globMatcher(pattern: string): Promise<Matches> {
  const { RE2JS } = await import("re2js");
  const whole = pattern.includes("/") ? pattern.replace(/^\/+/, "") : `**/${pattern}`;
  const source = `^(?:${globSource(whole, RE2JS.quote)})$`;
  return compiled(source, `the pattern ${JSON.stringify(pattern)}`, (text) => RE2JS.compile(text, RE2JS.DOTALL));
}

export async function lineMatcher(pattern: string, letters: "exact" | "any-case"): Promise<Matches> {
  const { RE2JS } = await import("re2js");
  const flags = letters === "any-case" ? RE2JS.CASE_INSENSITIVE : 0;
  const what = `the pattern ${JSON.stringify(pattern.slice(0, 200))}`;
  return compiled(pattern, what, (text) => RE2JS.compile(text, flags));
}

function compiled(source: string, what: string, compile: (source: string) => RE2JS): Matches {
  if (source.length > 2000)
    throw new ToolFailure("The pattern is longer than 2000 characters: search for less at once.");
  try {
    const expression = compile(source);
    return (text) => expression.test(text);
  } catch (error) {
    const reason = errorText(error);
    throw new ToolFailure(
      `${what} can't be used: ${reason}. The syntax is RE2's: no look-around and no back-references; escape literal ( ) [ ] { } . * + ? with a backslash.`,
    );
  }
}

function globSource(pattern: string, quote: (text: string) => string): string {
  let source = "";
  let depth = 0;
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index);
    const char = pattern[index]!;
    const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
    if (rest.startsWith("**/")) {
      source += "(?:[^/]+/)*";
      index += 2;
    } else if (rest.startsWith("**")) {
      source += ".*";
      index += 1;
    } else if (char === "*") source += "[^/]*";
    else if (char === "?") source += "[^/]";
    else if (set !== null) {
      source += `[${set[1] === "" ? "" : "^"}${set[2]!.replace(/[\\[\]^]/g, "\\$&")}]`;
      index += set[0].length - 1;
    } else if (char === "{" && rest.includes("}")) {
      source += "(?:";
      depth++;
    } else if (char === "}" && depth > 0) {
      source += ")";
      depth--;
    } else if (char === "," && depth > 0) source += "|";
    else source += quote(char);
  }
  return source + ")".repeat(depth);
}
