/** Files and folders for their owner alone, whatever the umask says: conversations are nobody else's to read. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/** Step by step: where a file system refuses with ENOENT, as /proc does, Node's own recursion never ends. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    // Another process may have been quicker.
    if (!isFolder(path)) throw error;
  }
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
