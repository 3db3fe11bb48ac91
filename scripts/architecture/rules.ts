/**
 * The architecture as named rules: each takes the workspace and returns what breaks it, one readable line per offence.
 * There is no list of exceptions.
 */
import { posix } from "node:path";
import { functionsOf } from "./functions.ts";
import { type Import, importsOf } from "./imports.ts";
import { isNode, lineOf, type Node, parse, walk } from "./syntax.ts";
import { isMade, isTest, type Package, type SourceFile, type Workspace } from "./workspace.ts";

const MAX_FILE_LINES = 400;
/** Those of functions inside it too. */
const MAX_STATEMENTS = 50;
/** Conditions, loops and tries inside each other. */
const MAX_DEPTH = 4;
const MAX_PROPERTIES_ON_A_LINE = 6;

/** All that a package outside the arrows may know of the others: how to ask over HTTP, and how the lab's plots are drawn. */
const OUTSIDE: ReadonlySet<string> = new Set([
  "palimpsest/client",
  "palimpsest/internal/client",
  "@palimpsest/lab/internal/report",
]);

/** Every package's tests may use it, also those of the packages that it stands on. */
const TESTING = "testing";

export function wrongArrows(workspace: Workspace): string[] {
  return eachImport(workspace).flatMap(({ file, use }) => {
    const from = file.package;
    if (from === null) return [];
    const place = `${file.path}:${use.line}`;
    if (use.specifier.startsWith(".")) {
      const target = posix.join(posix.dirname(file.path), use.specifier);
      return target.startsWith(`packages/${from.folder}/`)
        ? []
        : [`${place} reaches out of its package with "${use.specifier}"`];
    }
    const to = packageOf(workspace, use.specifier);
    if (to === undefined) return [];
    if (!to.exports.has(subpathOf(to, use.specifier)))
      return [`${place} imports "${use.specifier}", which ${to.name} does not export`];
    if (from.rank === -1)
      return OUTSIDE.has(use.specifier)
        ? []
        : [`${place}: ${from.folder} speaks HTTP only, it must not import ${use.specifier}`];
    const forTests = isTest(file.path) && to.folder === TESTING;
    return to.rank < from.rank || forTests ? [] : [`${place}: ${from.folder} must not import ${to.name}`];
  });
}

/** Tests may use Node; what core ships may use nothing but itself. */
export function impureCore(workspace: Workspace): string[] {
  const shipped = reachable(
    workspace,
    workspace.packages.filter((entry) => entry.folder === "core"),
  );
  return eachImport(workspace).flatMap(({ file, use }) => {
    if (!shipped.has(file.path) || use.specifier.startsWith(".")) return [];
    return [`${file.path}:${use.line}: core must stay pure, it imports "${use.specifier}"`];
  });
}

export function runtimeCycles(workspace: Workspace): string[] {
  const edges = runtimeEdges(workspace);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(" -> "));
    if (start !== -1 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}

export function longFiles(workspace: Workspace): string[] {
  return written(workspace).flatMap((file) => {
    const lines = file.text.trimEnd().split("\n").length;
    return lines > MAX_FILE_LINES ? [`${file.path} has ${lines} lines, at most ${MAX_FILE_LINES}: split it`] : [];
  });
}

/** By statements and not by lines: lines can be squeezed, and a list of properties is long without being hard to read. */
export function longFunctions(workspace: Workspace): string[] {
  return eachFunction(workspace)
    .filter(({ statements }) => statements > MAX_STATEMENTS)
    .map(({ place, statements }) => `${place} a function of ${statements} statements, at most ${MAX_STATEMENTS}`);
}

export function deepFunctions(workspace: Workspace): string[] {
  return eachFunction(workspace)
    .filter(({ depth }) => depth > MAX_DEPTH)
    .map(({ place, depth }) => `${place} a function with ${depth} branches inside each other, at most ${MAX_DEPTH}`);
}

/** A literal spread into a literal only keeps many properties on one line: the formatter is tricked, not the reader. */
export function foldedLiterals(workspace: Workspace): string[] {
  return eachLiteral(workspace).flatMap(({ file, node, items }) =>
    items
      .filter(({ type, argument }) => type === "SpreadElement" && isNode(argument) && argument.type === node.type)
      .map(({ start }) => `${file.path}:${lineOf(file.text, start)} a literal spread into a literal: write it out`),
  );
}

export function crowdedLines(workspace: Workspace): string[] {
  return eachLiteral(workspace).flatMap(({ file, node, items }) => {
    if (node.type !== "ObjectExpression") return [];
    const lines = Map.groupBy(items, ({ start }) => lineOf(file.text, start));
    return [...lines]
      .filter(([, properties]) => properties.length > MAX_PROPERTIES_ON_A_LINE)
      .map(
        ([line, { length }]) => `${file.path}:${line} has ${length} properties, at most ${MAX_PROPERTIES_ON_A_LINE}`,
      );
  });
}

export function anyTypes(workspace: Workspace): string[] {
  return workspace.files.flatMap((file) => {
    const found: string[] = [];
    walk(parse(file.text).program.body, null, (node) => {
      if (node.type === "TSAnyKeyword") found.push(`${file.path}:${lineOf(file.text, node.start)} uses \`any\``);
      return null;
    });
    return found;
  });
}

function eachFunction(workspace: Workspace) {
  return written(workspace).flatMap((file) =>
    functionsOf(file.text).map((found) => ({ ...found, place: `${file.path}:${found.line}` })),
  );
}

interface Literal {
  readonly file: SourceFile;
  readonly node: Node;
  readonly items: readonly Node[];
}

function eachLiteral(workspace: Workspace): Literal[] {
  return workspace.files.flatMap((file) => {
    const found: Literal[] = [];
    walk(parse(file.text).program.body, null, (node) => {
      const items =
        node.type === "ObjectExpression"
          ? node["properties"]
          : node.type === "ArrayExpression"
            ? node["elements"]
            : null;
      if (Array.isArray(items)) found.push({ file, node, items: items.filter(isNode) });
      return null;
    });
    return found;
  });
}

function written(workspace: Workspace): readonly SourceFile[] {
  return workspace.files.filter((file) => !isTest(file.path) && !isMade(file.path));
}

function eachImport(workspace: Workspace): { file: SourceFile; use: Import }[] {
  return workspace.files.flatMap((file) => importsOf(file.text).map((use) => ({ file, use })));
}

function packageOf(workspace: Workspace, specifier: string): Package | undefined {
  return workspace.packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
}

function subpathOf(owner: Package, specifier: string): string {
  return `.${specifier.slice(owner.name.length)}`;
}

/** The file an import leads to, when it is one of ours. */
function resolve(workspace: Workspace, file: SourceFile, use: Import): string | undefined {
  if (use.specifier.startsWith(".")) return posix.join(posix.dirname(file.path), use.specifier);
  const owner = packageOf(workspace, use.specifier);
  return owner?.exports.get(subpathOf(owner, use.specifier));
}

function runtimeEdges(workspace: Workspace): Map<string, string[]> {
  const edges = new Map<string, string[]>(workspace.files.map((file) => [file.path, []]));
  for (const { file, use } of eachImport(workspace)) {
    const target = resolve(workspace, file, use);
    if (use.when === "runtime" && target !== undefined && edges.has(target)) edges.get(file.path)!.push(target);
  }
  return edges;
}

function reachable(workspace: Workspace, from: readonly Package[]): Set<string> {
  const edges = runtimeEdges(workspace);
  const seen = new Set<string>();
  const queue = from.flatMap((owner) => [...owner.exports.values()]);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    queue.push(...(edges.get(path) ?? []));
  }
  return seen;
}
