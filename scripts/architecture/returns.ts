/**
 * Finds `return work()` in a `try` of an async function where `work` is async: the promise leaves before the `catch` and the
 * `finally` are done with it. It goes by names, as it has no types: a function's own file and imports, and any method.
 */
import { isNode, lineOf, parse, walk } from "./syntax.ts";
import type { SourceFile, Workspace } from "./workspace.ts";

export function unawaitedReturns(workspace: Workspace): string[] {
  const everywhere = new Set(workspace.files.flatMap(({ text }) => [...namesIn(text).async]));
  return workspace.files.flatMap((file) => {
    const { async, imported } = namesIn(file.text);
    const isAsync = ({ name, method }: Callee) =>
      method || imported.has(name) ? everywhere.has(name) : async.has(name);
    return returnedCalls(file).flatMap(({ line, callee }) =>
      isAsync(callee) ? [`${file.path}:${line} returns ${callee.name}() out of a try: await it there`] : [],
    );
  });
}

interface Callee {
  readonly name: string;
  readonly method: boolean;
}

interface Inside {
  readonly async: boolean;
  /** In a part of a `try` after which something else of it still comes. */
  readonly guarded: boolean;
}

function returnedCalls({ text }: SourceFile): { line: number; callee: Callee }[] {
  const found: { line: number; callee: Callee }[] = [];
  const guarded = new WeakSet<object>();
  walk<Inside>(parse(text).program.body, { async: false, guarded: false }, (node, inside) => {
    if (FUNCTION.test(node.type)) return { async: node["async"] === true, guarded: false };
    if (node.type === "TryStatement") {
      guarded.add(node["block"] as object);
      if (isNode(node["handler"]) && isNode(node["finalizer"])) guarded.add(node["handler"]);
    }
    if (guarded.has(node)) return { ...inside, guarded: true };
    const callee = node.type === "ReturnStatement" ? calleeOf(node["argument"]) : null;
    if (callee !== null && inside.async && inside.guarded) found.push({ line: lineOf(text, node.start), callee });
    return inside;
  });
  return found;
}

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

function calleeOf(returned: unknown): Callee | null {
  const callee = isNode(returned) && returned.type === "CallExpression" ? returned["callee"] : null;
  if (!isNode(callee)) return null;
  return callee.type === "MemberExpression" ? named(callee["property"], true) : named(callee, false);
}

function named(node: unknown, method: boolean): Callee | null {
  return isNode(node) && typeof node["name"] === "string" ? { name: node["name"], method } : null;
}

function namesIn(text: string): { readonly async: ReadonlySet<string>; readonly imported: ReadonlySet<string> } {
  const async = new Set<string>();
  const imported = new Set<string>();
  walk(parse(text).program.body, null, (node) => {
    if (node.type === "ImportSpecifier") add(imported, node["local"]);
    if (node["async"] === true) add(async, node["id"]);
    for (const [name, value] of [
      [node["id"], node["init"]],
      [node["key"], node["value"]],
    ])
      if (isNode(value) && value["async"] === true) add(async, name);
    return null;
  });
  return { async, imported };
}

function add(names: Set<string>, node: unknown): void {
  const name = named(node, false)?.name;
  if (name !== undefined) names.add(name);
}
