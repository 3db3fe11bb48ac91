/**
 * Makes a home, or takes care of one that is the person's: for them alone, kept out of version control, and noted where no
 * directory can claim it. Of a directory that is used for other things as well, only what is ours is closed.
 */
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { HOME_NAME } from "../home-folders.ts";
import { isFolder, makeFolder, PRIVATE_FILE, PRIVATE_FOLDER } from "../private-files.ts";
import type { ChosenHome } from "./choose-home.ts";
import { identityOf, realPath } from "./content.ts";
import type { Person } from "./person.ts";

const IGNORE = ".gitignore";

export function makeHome({ directory, reason }: ChosenHome, person: Person): void {
  const isNew = !existsSync(directory);
  // Where it can't be made, opening something in it says why.
  if (isNew) attempt(() => makeFolder(directory));
  if (!isFolder(directory)) return;
  const isHomeAlone = isNew || basename(directory) === HOME_NAME || reason === "user";
  for (const name of FOLDERS) tighten(join(directory, name), PRIVATE_FOLDER, person);
  for (const name of FILES) tighten(join(directory, name), PRIVATE_FILE, person);
  if (!isHomeAlone) return;
  tighten(directory, PRIVATE_FOLDER, person);
  if (!existsSync(join(directory, IGNORE)))
    attempt(() => writeFileSync(join(directory, IGNORE), "*\n", { mode: PRIVATE_FILE }));
  if (isNew && basename(directory) === HOME_NAME)
    // A home that can't be noted is asked about later, no more.
    attempt(() => person.register.write("made", realPath(directory), identityOf(directory)));
}

/** What older versions made for everybody to read; a closed folder closes all that is in it. */
const FOLDERS = ["threads", "users", "agents"];
const FILES = ["palimpsest.db", "palimpsest.db-wal", "palimpsest.db-shm", "learned-limits.json"];

function tighten(path: string, mode: number, { uid }: Person): void {
  attempt(() => {
    const stats = statSync(path);
    if ((uid === null || stats.uid === uid) && (stats.mode & 0o077) !== 0) chmodSync(path, mode);
  });
}

/** On a read-only disk nothing can be made, tightened or noted: no reason to stop somebody who only reads. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Said above.
  }
}
