/** Reads TypeScript with a real parser, so that the checks beside it see what the language sees. Judges nothing. */
import { parseSync } from "oxc-parser";

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

type Parsed = ReturnType<typeof parseSync>;

/** Each rule walks every file: a file is parsed once. */
const parsed = new Map<string, Parsed>();

export function parse(text: string): Parsed {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const plain = parseSync("file.ts", text, { lang: "ts" });
  // What isn't TypeScript by itself has markup in it.
  const made = plain.errors.length === 0 ? plain : parseSync("file.tsx", text, { lang: "tsx" });
  const [first] = made.errors;
  if (first !== undefined) throw new Error(`can't parse: ${first.message}`);
  parsed.set(text, made);
  return made;
}

/** Every node under this one, parents first; `enter` may say what the nodes inside it are told. */
export function walk<Context>(root: unknown, context: Context, enter: (node: Node, context: Context) => Context): void {
  if (Array.isArray(root)) {
    for (const item of root) walk(item, context, enter);
    return;
  }
  if (!isNode(root)) return;
  const inner = enter(root, context);
  for (const value of Object.values(root)) if (typeof value === "object" && value !== null) walk(value, inner, enter);
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i !== -1 && i < offset; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}

/** The text with blanks where its comments stand. */
export function withoutComments(text: string): string {
  let code = text;
  for (const { start, end } of parse(text).comments) {
    code = code.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, " ") + code.slice(end);
  }
  return code;
}
