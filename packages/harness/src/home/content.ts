/** What stands at a path, for comparing it later: digests of files and folders, the identity of a database, its owner. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

export function digestOf(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** One digest of named parts, whatever their order. */
export function fingerprintOf(parts: Readonly<Record<string, string>>): string {
  return digestOf(JSON.stringify(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1))));
}

export function fileDigest(path: string): string {
  try {
    return digestOf(readFileSync(path));
  } catch {
    return "none";
  }
}

/** Every file under a folder by name and content; a link by where it leads. */
export function folderDigest(folder: string): string {
  return fingerprintOf(Object.fromEntries(filesUnder(folder, "")));
}

function filesUnder(folder: string, inside: string): [string, string][] {
  return entriesOf(join(folder, inside)).flatMap((entry): [string, string][] => {
    const name = join(inside, entry.name);
    const path = join(folder, name);
    if (entry.isDirectory()) return filesUnder(folder, name);
    return [[name, entry.isSymbolicLink() ? `link ${readlinkSync(path)}` : fileDigest(path)]];
  });
}

export function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * The same file or folder however much is written to it, and another one when it was replaced: file systems give a freed
 * number away again, but not with the same time of birth.
 */
export function identityOf(path: string): string {
  try {
    const { ino, birthtimeNs } = statSync(path, { bigint: true });
    return `${ino}:${birthtimeNs}`;
  } catch {
    return "none";
  }
}

/** Of those that exist, all belong to the person or to root. */
export function ownerOf(paths: readonly string[], uid: number | null): "self" | "other" {
  const strange = (path: string): boolean => {
    try {
      // A link and what it leads to.
      return [lstatSync(path), statSync(path)].some((stats) => ![uid, 0].includes(stats.uid));
    } catch {
      // What isn't there belongs to nobody.
      return false;
    }
  };
  return uid !== null && paths.some(strange) ? "other" : "self";
}

/** As it is without links; a path that isn't there stays as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
