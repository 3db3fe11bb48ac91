/**
 * Lists what each package subpath exports. `npm run public-names` writes the list to `scripts/public-names.json`, which
 * is committed, so that a new public name is a visible diff.
 */
import { writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { exportsOf } from "./imports.ts";
import { loadWorkspace, type Workspace } from "./workspace.ts";

export interface PublicNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

export function publicNames(workspace: Workspace): Record<string, PublicNames> {
  const listed = workspace.packages.flatMap((owner) =>
    [...owner.exports].map(([subpath, file]) => [owner.name + subpath.slice(1), namesOf(workspace, file)] as const),
  );
  return Object.fromEntries(listed.sort(([a], [b]) => (a < b ? -1 : 1)));
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
