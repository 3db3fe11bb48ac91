/** Loads the packages: their rank in the arrows, their declared subpaths, their source files. Reads, never judges. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Dependencies point from right to left; what stands side by side doesn't know of each other. The inspector speaks HTTP
 * only: of them it imports the client and how the lab's report is drawn.
 */
const ARROWS = [
  ["core"],
  ["harness"],
  ["testing"],
  ["lab"],
  ["gateway", "adapters-langchain", "adapters-openai-agents"],
  ["cli"],
];

/** Our own name: packages we depend on have a `source` that Node can't run. */
const SOURCE = "palimpsest-source";

export interface Package {
  readonly folder: string;
  readonly name: string;
  /** Position in the arrows; -1 stands outside. */
  readonly rank: number;
  /** Subpath (`.` or `./log`) to source file, relative to the root. */
  readonly exports: ReadonlyMap<string, string>;
}

export interface SourceFile {
  /** Relative to the root. */
  readonly path: string;
  readonly package: Package | null;
  readonly text: string;
}

export interface Workspace {
  readonly packages: readonly Package[];
  readonly files: readonly SourceFile[];
}

export function loadWorkspace(root: string): Workspace {
  const packages = readdirSync(join(root, "packages"))
    .filter((folder) => existsSync(join(root, "packages", folder, "package.json")))
    .map((folder) => loadPackage(root, folder));
  const files = packages.flatMap((owner) => sourcesUnder(root, join("packages", owner.folder, "src"), owner));
  return { packages, files: [...files, ...sourcesUnder(root, "scripts", null)] };
}

/** Written by a script and not committed: rules about how code reads don't apply to it. */
export function isMade(path: string): boolean {
  return path === join("packages", "harness", "src", "client", "routes.ts");
}

export function isTest(path: string): boolean {
  return /\.(?:test|soak)\.ts$|\/fixtures\//.test(path);
}

function loadPackage(root: string, folder: string): Package {
  const manifest: { name: string; exports?: Record<string, { [SOURCE]?: string } | string> } = JSON.parse(
    readFileSync(join(root, "packages", folder, "package.json"), "utf8"),
  );
  const exports = new Map<string, string>();
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (typeof target === "string") continue;
    const source = target[SOURCE];
    if (source === undefined)
      throw new Error(`The export ${subpath} of ${manifest.name} needs a "${SOURCE}" of its own.`);
    exports.set(subpath, join("packages", folder, source));
  }
  return { folder, name: manifest.name, rank: ARROWS.findIndex((side) => side.includes(folder)), exports };
}

function sourcesUnder(root: string, folder: string, owner: Package | null): SourceFile[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("node_modules"))
    .map((path) => ({ path: relative(root, path), package: owner, text: readFileSync(path, "utf8") }));
}
