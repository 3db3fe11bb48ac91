/**
 * File patterns (`*`, `?`, `**`, `[abc]`, `{a,b}`) and regular expressions, matched in time linear in the text whatever
 * the pattern is: both run on RE2's algorithm, which has no backtracking.
 */
import { RE2JS } from "re2js";
import { ToolFailure } from "./tool-failure.ts";

export type Matches = (text: string) => boolean;

/** Matches paths relative to the searched folder; a pattern without a slash matches the name at any depth. */
export function globMatcher(pattern: string): Matches {
  const whole = pattern.includes("/") ? pattern.replace(/^\/+/, "") : `**/${pattern}`;
  return compiled(`^(?:${globSource(whole)})$`, `the pattern ${JSON.stringify(pattern)}`, RE2JS.DOTALL);
}

export function lineMatcher(pattern: string, letters: "exact" | "any-case"): Matches {
  const flags = letters === "any-case" ? RE2JS.CASE_INSENSITIVE : 0;
  return compiled(pattern, `the pattern ${JSON.stringify(pattern.slice(0, 200))}`, flags);
}

function compiled(source: string, what: string, flags: number): Matches {
  if (source.length > 2000)
    throw new ToolFailure("The pattern is longer than 2000 characters: search for less at once.");
  try {
    const expression = RE2JS.compile(source, flags);
    return (text) => expression.test(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolFailure(
      `${what} can't be used: ${reason}. The syntax is RE2's: no look-around and no back-references; escape literal ( ) [ ] { } . * + ? with a backslash.`,
    );
  }
}

function globSource(pattern: string): string {
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
    else source += RE2JS.quote(char);
  }
  return source + ")".repeat(depth);
}
