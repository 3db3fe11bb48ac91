/** Groups that need each other: of files, and of the folders they stand in. Reads the imports, never judges. */
import { posix } from "node:path";
import { importsOf } from "../architecture/imports.ts";
import type { SourceFile } from "../architecture/workspace.ts";

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

/** Between files of one package; imports of types only when asked for. */
export function fileEdges(files: readonly SourceFile[], which: "runtime" | "all"): Edges {
  const known = new Set(files.map(({ path }) => path));
  return new Map(
    files.map(({ path, text }) => {
      const targets = importsOf(text)
        .filter(({ specifier, when }) => specifier.startsWith(".") && (which === "all" || when === "runtime"))
        .map(({ specifier }) => posix.join(posix.dirname(path), specifier));
      return [path, new Set(targets.filter((target) => known.has(target)))];
    }),
  );
}

/** Between the folders under `src`; files beside the folders are one folder, but the entry `index.ts` is none. */
export function folderEdges(edges: Edges): Edges {
  const folders = new Map<string, Set<string>>();
  const inFolder = [...edges].filter(([path]) => !/\/src\/index\.ts$/.test(path));
  for (const [path, targets] of inFolder) {
    const from = folderOf(path);
    const seen = folders.get(from) ?? new Set();
    for (const target of targets) if (folderOf(target) !== from) seen.add(folderOf(target));
    folders.set(from, seen);
  }
  return folders;
}

function folderOf(path: string): string {
  return /\/src\/((?:features\/)?[^/]+)\//.exec(path)?.[1] ?? ".";
}

/** Groups of two or more in which each reaches each, the largest first. */
export function knots(edges: Edges): string[][] {
  const reach = new Map([...edges.keys()].map((node) => [node, reachable(edges, node)]));
  const seen = new Set<string>();
  const groups: string[][] = [];
  for (const node of edges.keys()) {
    if (seen.has(node)) continue;
    const group = [...reach.get(node)!].filter((other) => reach.get(other)?.has(node));
    for (const member of group) seen.add(member);
    if (group.length > 0) groups.push(group.sort());
  }
  return groups.sort((a, b) => b.length - a.length);
}

/** The node itself is in it only if a way leads back. */
function reachable(edges: Edges, start: string): Set<string> {
  const seen = new Set<string>();
  const queue = [...(edges.get(start) ?? [])];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    queue.push(...(edges.get(node) ?? []));
  }
  return seen;
}
