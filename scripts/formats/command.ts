/** The real command on a home, for the fixture of the formats. It reads no configuration and no home of the person who runs it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BINARY = fileURLToPath(new URL("../../packages/cli/bin/palimpsest.js", import.meta.url));

/** The words of a command, as one would type them. Throws with what it printed if it fails. */
export type Palimpsest = (...words: string[]) => string;

export function palimpsestIn(home: string): Palimpsest {
  return (...words) => {
    const elsewhere = mkdtempSync(join(tmpdir(), "palimpsest-formats-"));
    try {
      const env = { PATH: process.env["PATH"], HOME: elsewhere, PALIMPSEST_HOME: home, TZ: "UTC", LANG: "C.UTF-8" };
      const args = ["--conditions=palimpsest-source", BINARY, ...words];
      return execFileSync(process.execPath, args, { cwd: elsewhere, env, encoding: "utf8" });
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  };
}

/** What every later version must still say of the fixture, word for word: commands that print JSON. Ranking and counts may change. */
export const QUESTIONS: readonly (readonly string[])[] = [
  ["threads"],
  ...["work", "work-fork", "talk"].flatMap((thread) =>
    ["view", "replay", "verify"].map((command) => [command, thread]),
  ),
  ["rules", "work", "--all"],
  ["notes", "work"],
  ["memory", "show"],
  ["memory", "history"],
  ["keys", "list"],
];
