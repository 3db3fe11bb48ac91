/** Files and folders for their owner alone, whatever the umask says: conversations are nobody else's to read. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
/** What is made from the log and must not be edited. */
export const READ_ONLY_FILE = 0o400;

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

/** For libraries that open a file with a mode of their own: it is there already, empty, with ours. */
export function makeFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", PRIVATE_FILE));
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
