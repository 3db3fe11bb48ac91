/**
 * The weight of a package once installed: its files and those of everything it depends on, found the way Node finds them,
 * each counted once. Optional dependencies count when they are there.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

export function installSize(from: string, name: string): { packages: number; bytes: number } | null {
  const first = find(from, name);
  if (first === null) return null;
  const seen = new Set([first]);
  for (const folder of seen) {
    for (const needed of neededBy(folder)) {
      const size = find(folder, needed);
      if (size !== null) seen.add(size);
    }
  }
  return { packages: seen.size, bytes: [...seen].reduce((sum, folder) => sum + weigh(folder), 0) };
}

interface Manifest {
  readonly dependencies?: object;
  readonly optionalDependencies?: object;
  readonly peerDependencies?: object;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

function neededBy(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const required = peers.filter((name) => manifest.peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), ...required];
}

function find(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
    if (dirname(folder) === folder) return null;
  }
}

/** Sources of our own workspaces aren't published. */
const LEFT_OUT = new Set(["node_modules", "src", ".git"]);

function weigh(folder: string): number {
  const inWorkspace = !folder.includes("/node_modules/");
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || (inWorkspace && LEFT_OUT.has(entry.name))) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += weigh(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}
