/**
 * Makes a home, or takes care of one that is the person's: for them alone, kept out of version control, and noted where no
 * directory can claim it. A directory that is used for other things as well is left as it is.
 */
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type ChosenHome, HOME_NAME } from "./choose-home.ts";
import { identityOf, realPath } from "./content.ts";
import type { Person } from "./person.ts";
import { isFolder, makeFolder, PRIVATE_FILE, PRIVATE_FOLDER } from "./private-files.ts";

const IGNORE = ".gitignore";

export function makeHome({ directory, reason }: ChosenHome, person: Person): void {
  const isNew = !existsSync(directory);
  // Where it can't be made, whoever opens something in it says why.
  if (isNew) attempt(() => makeFolder(directory));
  const named = basename(directory) === HOME_NAME || reason === "user";
  if (!isFolder(directory) || (!isNew && !named)) return;
  if (!isNew) tighten(directory, person);
  if (!existsSync(join(directory, IGNORE)))
    attempt(() => writeFileSync(join(directory, IGNORE), "*\n", { mode: PRIVATE_FILE }));
  if (isNew && basename(directory) === HOME_NAME)
    // A home that can't be noted is asked about later, no more.
    attempt(() => person.register.write("made", realPath(directory), identityOf(directory)));
}

/** The folder keeps others out; what was made before it did is closed as well. */
function tighten(directory: string, { uid }: Person): void {
  const files = ["palimpsest.db", "palimpsest.db-wal", "palimpsest.db-shm"].map((name) => join(directory, name));
  for (const [path, mode] of [
    [directory, PRIVATE_FOLDER] as const,
    ...files.map((file) => [file, PRIVATE_FILE] as const),
  ]) {
    attempt(() => {
      const found = statSync(path);
      if ((uid === null || found.uid === uid) && (found.mode & 0o077) !== 0) chmodSync(path, mode);
    });
  }
}

/** On a read-only disk nothing can be made, tightened or noted: no reason to stop somebody who only reads. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Said above.
  }
}
