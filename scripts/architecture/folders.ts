/**
 * Arrows between the folders of a package: who needs whom while it runs. The table of those that are allowed is
 * `folder-arrows.json`, from the bottom up; an arrow that isn't in it, one that nothing needs any more, and one that
 * points up are offences. A file beside the folders is the folder `.`; the entry `index.ts` there stands above all.
 */
import { posix } from "node:path";
import { importsOf } from "./imports.ts";
import { isTest, type SourceFile, type Workspace } from "./workspace.ts";

/** By package, then by folder, from the bottom up: the folders it may import. */
export type FolderArrows = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export function wrongFolderArrows(workspace: Workspace, allowed: FolderArrows): string[] {
  return workspace.packages.flatMap(({ folder }) => {
    const table = allowed[folder] ?? {};
    const order = Object.keys(table);
    const found = arrowsOf(workspace, folder);
    const unlisted = [...found].flatMap(([arrow, place]) => {
      const [from, to] = arrow.split(" -> ") as [string, string];
      if (table[from]?.includes(to)) return [];
      return [`${place}: ${folder}/${from} imports ${folder}/${to}, which folder-arrows.json doesn't list`];
    });
    const listed = Object.entries(table).flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
    const unused = listed
      .filter(({ from, to }) => !found.has(`${from} -> ${to}`))
      .map(({ from, to }) => `folder-arrows.json lists ${folder}/${from} -> ${to}, which nothing needs`);
    const upward = listed
      .filter(({ from, to }) => order.indexOf(to) >= order.indexOf(from) || !order.includes(to))
      .map(
        ({ from, to }) =>
          `${folder}/${from} -> ${to} points up in folder-arrows.json: the order there is from the bottom up`,
      );
    return [...unlisted, ...unused, ...upward];
  });
}

/** Each arrow and the first place that draws it. */
function arrowsOf({ files }: Workspace, owner: string): Map<string, string> {
  const root = `packages/${owner}/src/`;
  const found = new Map<string, string>();
  const own = files.filter(({ path }) => path.startsWith(root) && !isTest(path) && path !== `${root}index.ts`);
  for (const file of own) {
    for (const { target, line } of targetsOf(file)) {
      const [from, to] = [folderOf(file.path, root), folderOf(target, root)];
      const arrow = `${from} -> ${to}`;
      if (from !== to && !found.has(arrow)) found.set(arrow, `${file.path}:${line}`);
    }
  }
  return found;
}

function targetsOf(file: SourceFile): { readonly target: string; readonly line: number }[] {
  return importsOf(file.text)
    .filter(({ specifier, when }) => specifier.startsWith(".") && when === "runtime")
    .map(({ specifier, line }) => ({ target: posix.join(posix.dirname(file.path), specifier), line }));
}

/** Each feature under `features` is a folder of its own. */
function folderOf(path: string, root: string): string {
  return /^((?:features\/)?[^/]+)\//.exec(path.slice(root.length))?.[1] ?? ".";
}
