/**
 * Where limits that providers stated outlive the process: a small file of the home. A convenience: a file that can't be
 * read or written costs one refused request a process, never a run.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LearnedLimits } from "@palimpsest/core/tokens";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../home-folders.ts";

export interface LimitsStore {
  read(): LearnedLimits;
  /** What others have learned meanwhile, without a wait; a store that has none of it leaves it out. */
  latest?(): LearnedLimits;
  keep(limits: LearnedLimits): void;
}

/** In the home's own file. */
export function limitsOfHome(directory: string): LimitsStore {
  return limitsIn(join(directory, "learned-limits.json"));
}

export function limitsIn(path: string): LimitsStore {
  return {
    read() {
      try {
        return sound(JSON.parse(readFileSync(path, "utf8")));
      } catch {
        return {};
      }
    },
    keep(limits) {
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
        writeFileSync(temporary, `${JSON.stringify(limits, null, 1)}\n`, { mode: PRIVATE_FILE });
        renameSync(temporary, path);
      } catch {
        // The next process learns it again; what was begun isn't left lying about.
        void rm(temporary, { force: true }).catch(() => undefined);
      }
    },
  };
}

/** The entries that are limits; a file is anybody's to edit. */
function sound(value: unknown): LearnedLimits {
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value as Record<string, unknown>).filter(([, limit]) => {
    const { tokens, learnedAt } = (limit ?? {}) as { tokens?: unknown; learnedAt?: unknown };
    return Number.isSafeInteger(tokens) && Number(tokens) > 0 && Number.isFinite(learnedAt);
  });
  return Object.fromEntries(entries) as LearnedLimits;
}
