/**
 * Records which functions of a checkout's packages run. A load hook writes one call into the body of every function;
 * while `traced` waits for an act, each of these calls is recorded. Imported before any source it is to see.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { isNode, lineOf, type Node, parse, walk } from "../architecture/syntax.ts";

/** A function of a source file, from its first to its last line. */
export interface TracedFunction {
  /** Relative to the folder `packages`. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

const MARK = "__palimpsestTrace";
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** Every function that was loaded; what the calls record are positions in it. */
export const functions: TracedFunction[] = [];
let recorded: number[] | null = null;

Object.defineProperty(globalThis, MARK, { value: (id: number) => recorded?.push(id) });

/** `packages` is the URL of the folder, with a slash at its end. */
export function instrument(packages: string): void {
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith(packages) || !url.endsWith(".ts")) return next(url, context);
      const source = instrumented(readFileSync(fileURLToPath(url), "utf8"), url.slice(packages.length));
      return { format: "module-typescript", source, shortCircuit: true };
    },
  });
}

/** The functions that ran during the act, in the order of their calls. */
export async function traced(act: () => Promise<void>): Promise<TracedFunction[]> {
  const calls: number[] = [];
  recorded = calls;
  try {
    await act();
  } finally {
    recorded = null;
  }
  return calls.map((id) => functions[id]!);
}

function instrumented(text: string, path: string): string {
  const insertions: { readonly at: number; readonly code: string }[] = [];
  walk<null>(parse(text).program.body, null, (node) => {
    const { body } = node;
    if (!FUNCTION.test(node.type) || !isNode(body)) return null;
    const call = `${MARK}(${functions.length})`;
    functions.push({ path, from: lineOf(text, node.start), to: lineOf(text, node.end) });
    insertions.push(...callsIn(node, body, call));
    return null;
  });
  let result = text;
  // From the end, so that the positions before it stay.
  for (const { at, code } of insertions.sort((a, b) => b.at - a.at)) {
    result = result.slice(0, at) + code + result.slice(at);
  }
  return result;
}

function callsIn(node: Node, body: Node, call: string) {
  if (node["expression"] !== true) return [{ at: body.start + 1, code: `${call};` }];
  return [
    { at: body.start, code: `(${call},(` },
    { at: body.end, code: "))" },
  ];
}
