/**
 * What a person trusts, and which homes we made: one small file each, in the person's own state folder, so that nothing
 * in a directory can speak for itself and two processes never overwrite each other's notes.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../private-files.ts";

/** `trusted`: the fingerprint of the content. `made`, `workspace`: the identity of the directory. */
type Note = "trusted" | "made" | "workspace";

export interface Register {
  read(note: Note, path: string): string | null;
  write(note: Note, path: string, value: string): void;
  remove(note: Note, path: string): void;
}

/** `path` is a real path: two names of one place are one entry. */
export function openRegister(stateFolder: string): Register {
  const fileOf = (note: Note, path: string): string =>
    join(stateFolder, note, `${createHash("sha256").update(path).digest("hex")}.json`);
  return {
    read(note, path) {
      try {
        const entry = JSON.parse(readFileSync(fileOf(note, path), "utf8")) as { path?: unknown; value?: unknown };
        return entry.path === path && typeof entry.value === "string" ? entry.value : null;
      } catch {
        // Missing or unreadable: nothing is known.
        return null;
      }
    },
    write(note, path, value) {
      const file = fileOf(note, path);
      const temporary = `${file}.${randomUUID()}.tmp`;
      mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
      try {
        writeFileSync(temporary, `${JSON.stringify({ path, value })}\n`, { flag: "wx", mode: PRIVATE_FILE });
        renameSync(temporary, file);
      } finally {
        rmSync(temporary, { force: true });
      }
    },
    remove: (note, path) => rmSync(fileOf(note, path), { force: true }),
  };
}
