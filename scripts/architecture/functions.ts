/** Measures functions: lines of the body, statements in all, how deep conditions, loops and tries lie in each other. */
import { isNode, lineOf, type Node, parse, walk } from "./syntax.ts";

export interface FunctionSize {
  /** Where the body opens. */
  readonly line: number;
  readonly lines: number;
  /** Those of functions inside it too. */
  readonly statements: number;
  readonly depth: number;
  readonly parameters: number;
}

interface Open {
  readonly size: { statements: number; depth: number };
  readonly outer: Open | null;
  /** How many branches the node lies in. */
  readonly depth: number;
}

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const BRANCH = /^(?:If|For|ForOf|ForIn|While|DoWhile|Switch|Try)Statement$/;
const STATEMENT = /^(?!Block).*Statement$|^VariableDeclaration$/;

export function functionsOf(text: string): FunctionSize[] {
  const found: (FunctionSize & Open["size"])[] = [];
  walk<Open | null>(parse(text).program.body, null, (node, open) => {
    if (FUNCTION.test(node.type)) return opened(node, open);
    if (open === null) return open;
    if (STATEMENT.test(node.type)) for (let at: Open | null = open; at !== null; at = at.outer) at.size.statements++;
    if (!BRANCH.test(node.type)) return open;
    // `else if` goes on beside its `if`, not inside it.
    const { alternate } = node;
    if (isNode(alternate) && alternate.type === "IfStatement") chained.add(alternate);
    const depth = chained.has(node) ? open.depth : open.depth + 1;
    open.size.depth = Math.max(open.size.depth, depth);
    return { ...open, depth };
  });
  return found;

  function opened(node: Node, outer: Open | null): Open | null {
    const { body, params } = node;
    if (!isNode(body)) return outer;
    const line = lineOf(text, body.start);
    const lines = lineOf(text, body.end) - line + 1;
    const size = { line, lines, statements: 0, depth: 0, parameters: Array.isArray(params) ? params.length : 0 };
    found.push(size);
    return { size, outer, depth: 0 };
  }
}

const chained = new WeakSet<Node>();
