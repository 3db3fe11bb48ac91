/**
 * Lists what each package subpath exports. `npm run public-names` writes the list to `scripts/public-names.json`, which
 * is committed, so that a new public name is a visible diff. What stands under `internal/` is for our own packages, so it
 * is no public name (docs/decisions/0014).
 */
import { writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { exportsOf } from "./imports.ts";
import { loadWorkspace, type Package, type Workspace } from "./workspace.ts";

/** More than fits a screen, and a name is hard to find. */
const MAX_VALUES = 15;
const MAX_VALUES_IN_ALL = 120;

export interface PublicNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

export function publicNames(workspace: Workspace): Record<string, PublicNames> {
  const listed = workspace.packages.flatMap((owner) =>
    publicPaths(owner).map(([subpath, file]) => [owner.name + subpath.slice(1), namesOf(workspace, file)] as const),
  );
  return Object.fromEntries(listed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How many values each subpath exports. A namespace is one more door to a subpath, no value of its own. */
export function publicValues(workspace: Workspace): { readonly path: string; readonly count: number }[] {
  return workspace.packages.flatMap((owner) =>
    publicPaths(owner).map(([subpath, file]) => {
      const text = workspace.files.find(({ path }) => path === file)?.text ?? "";
      const count = namesOf(workspace, file).values.length - exportsOf(text).namespaces.length;
      return { path: owner.name + subpath.slice(1), count };
    }),
  );
}

/** Subpaths with too many values, and all of them together. */
export function crowdedSubpaths(workspace: Workspace): string[] {
  const counts = publicValues(workspace);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const crowded = counts
    .filter(({ count }) => count > MAX_VALUES)
    .map(({ path, count }) => `${path} exports ${count} values, at most ${MAX_VALUES}: ${ADVICE}`);
  return total > MAX_VALUES_IN_ALL
    ? [...crowded, `${total} public values in all, at most ${MAX_VALUES_IN_ALL}: ${ADVICE}`]
    : crowded;
}

const ADVICE = "what only our own packages use belongs in the folder's internal.ts";

function isInternal(subpath: string): boolean {
  return subpath.startsWith("./internal/");
}

function publicPaths(owner: Package): (readonly [subpath: string, file: string])[] {
  return [...owner.exports].filter(([subpath]) => !isInternal(subpath));
}

function namesOf(workspace: Workspace, path: string): PublicNames {
  const file = workspace.files.find((candidate) => candidate.path === path);
  if (file === undefined) throw new Error(`a package exports ${path}, which does not exist`);
  const own = exportsOf(file.text);
  const values = new Set(own.values);
  const types = new Set(own.types);
  for (const { specifier, as } of own.everythingFrom) {
    const more = namesOf(workspace, posix.join(posix.dirname(path), specifier));
    for (const name of more.types) types.add(name);
    for (const name of more.values) (as === "types" ? types : values).add(name);
  }
  for (const name of values) types.delete(name);
  return { values: [...values].sort(), types: [...types].sort() };
}

if (import.meta.main) {
  const scripts = join(dirname(fileURLToPath(import.meta.url)), "..");
  const names = publicNames(loadWorkspace(join(scripts, "..")));
  writeFileSync(join(scripts, "public-names.json"), `${JSON.stringify(names, null, 2)}\n`);
}
