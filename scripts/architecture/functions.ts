/**
 * Measures functions: with the types stripped, a brace after `=>` or after a parameter list opens a function's body.
 */
import { stripTypeScriptTypes } from "node:module";
import { blank, lineOf } from "./source-text.ts";

export interface FunctionSize {
  /** Where the body opens. */
  readonly line: number;
  readonly lines: number;
}

export function functionsOf(source: string): FunctionSize[] {
  const text = blank(stripTypeScriptTypes(source), { strings: "blank" });
  const found: FunctionSize[] = [];
  const open: { at: number; char: string; body: boolean }[] = [];
  let parameters = -1;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i]!;
    if (char === "(" || char === "[" || char === "{") {
      open.push({ at: i, char, body: char === "{" && opensBody(text, i, parameters) });
    } else if (char === ")" || char === "]" || char === "}") {
      const start = open.pop();
      if (start === undefined) throw new Error(`unbalanced ${char} on line ${lineOf(text, i)}`);
      if (char === ")") parameters = start.at;
      if (start.body) {
        const line = lineOf(text, start.at);
        found.push({ line, lines: lineOf(text, i) - line + 1 });
      }
    }
  }
  return found;
}

/** `parameters` is where the parenthesis that closed last was opened. */
function opensBody(text: string, brace: number, parameters: number): boolean {
  const before = text.slice(Math.max(0, brace - 200), brace).trimEnd();
  if (before.endsWith("=>")) return true;
  if (!before.endsWith(")") || parameters === -1) return false;
  return !/\b(?:if|for|for\s+await|while|switch|catch|with)\s*$/.test(
    text.slice(Math.max(0, parameters - 20), parameters),
  );
}
