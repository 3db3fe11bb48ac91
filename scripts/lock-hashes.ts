// Fills in the hashes that npm leaves out of a lock file (it does so for packages that were in node_modules when the lock
// was written), as the registry states them. Changes nothing else. Run it after `npm install PACKAGE`.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface LockFile {
  readonly packages: Record<string, LockEntry>;
}

interface LockEntry {
  readonly name?: string;
  readonly version?: string | undefined;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
}

/** False for our own packages, links to them, and what comes inside another package's archive. */
export function isDownloaded([place, entry]: readonly [string, LockEntry]): boolean {
  return place.includes("node_modules/") && entry.link !== true && entry.inBundle !== true;
}

async function statedHash(place: string, entry: LockEntry): Promise<string> {
  const name = entry.name ?? place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
  const args = ["view", `${name}@${entry.version}`, "dist.integrity", "--json"];
  const { stdout } = await promisify(execFile)("npm", args, { shell: process.platform === "win32" });
  return JSON.parse(stdout) as string;
}

async function fillIn(path: string): Promise<void> {
  const lock = JSON.parse(readFileSync(path, "utf8")) as LockFile;
  const bare = Object.entries(lock.packages).filter((item) => isDownloaded(item) && item[1].integrity === undefined);
  for (const [place, entry] of bare) {
    const { version, ...others } = entry;
    // In the order that npm writes, so that its next run leaves the line alone.
    lock.packages[place] = { version, integrity: await statedHash(place, entry), ...others };
  }
  if (bare.length > 0) writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`${path}: ${bare.length} hashes filled in\n`);
}

async function fillAll(): Promise<void> {
  const root = join(import.meta.dirname, "..");
  for (const path of ["package-lock.json", "bench/package-lock.json", "site/package-lock.json"])
    await fillIn(join(root, path));
}

if (import.meta.main) void fillAll();
