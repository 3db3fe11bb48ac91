/**
 * Packs the packages and installs the tarballs into temporary projects, as an application would: nothing of the
 * workspace is in reach there.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
}

/** A failed command is an error that shows what it printed. */
export async function run(file: string, args: readonly string[], cwd: string): Promise<Ran> {
  // npm tells its children where its own project is; these have one of theirs.
  const own = Object.entries(process.env).filter(([name]) => !/^npm_(?:package|lifecycle|config_local)/.test(name));
  return promisify(execFile)(file, args, { cwd, env: Object.fromEntries(own), maxBuffer: 64 << 20 });
}

/** Tarballs by package name. */
export async function packAll(root: string, into: string): Promise<ReadonlyMap<string, string>> {
  mkdirSync(into, { recursive: true });
  const { stdout } = await run("npm", ["pack", "--workspaces", "--json", "--pack-destination", into], root);
  // What is private goes into another package's tarball, if anywhere.
  const isPrivate = (name: string) => name === "@palimpsest/inspector";
  const packed: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
  // An array up to npm 11, an object by name from npm 12 on.
  const entries = Object.values(packed as Record<string, { name: string; filename: string }>);
  return new Map(
    entries.filter(({ name }) => !isPrivate(name)).map(({ name, filename }) => [name, join(into, filename)]),
  );
}

/** A new project with these packages (names with versions, or tarballs) and the examples. */
export async function makeProject(
  folder: string,
  packages: readonly string[],
  examples?: string,
  resolving: readonly string[] = [],
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "application", "private": true, "type": "module" }\n');
  await install(folder, packages, resolving);
  if (examples !== undefined) cpSync(examples, join(folder, "examples"), { recursive: true });
  return folder;
}

export async function install(
  folder: string,
  packages: readonly string[],
  resolving: readonly string[] = [],
): Promise<void> {
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefer-offline", ...resolving];
  await run("npm", ["install", ...quiet, ...packages], folder);
}

export interface Installed {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly bytes: number;
}

/** Every package in a project's `node_modules`, with what its own files weigh. */
export function installed(folder: string): readonly Installed[] {
  const modules = join(folder, "node_modules");
  const names = foldersIn(modules).flatMap((name) =>
    name.startsWith("@") ? foldersIn(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  return names.flatMap((name) => {
    const at = join(modules, name);
    const { version, license = "" } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
    const nested = foldersIn(at).includes("node_modules") ? installed(at) : [];
    return [{ name, version, license: String(license), bytes: weight(at) }, ...nested];
  });
}

function foldersIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
}

function weight(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + weight(path);
    return entry.isFile() ? sum + statSync(path).size : sum;
  }, 0);
}
