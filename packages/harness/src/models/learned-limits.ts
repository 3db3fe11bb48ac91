/**
 * Where limits that providers stated outlive the process: a small file of the home. A convenience: a file that can't be
 * read or written costs one refused request a process, never a run.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { endpointsWith, type LearnedLimits } from "@palimpsest/core/internal/tokens";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../home-folders.ts";
import type { SharedLimits } from "../stores/shared.ts";
import { addressOfLimits } from "./facts.ts";

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

/** Valid entries only; people may edit the file. */
function sound(value: unknown): LearnedLimits {
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value as Record<string, unknown>).filter(([, limit]) => {
    const { tokens, learnedAt } = (limit ?? {}) as { tokens?: unknown; learnedAt?: unknown };
    return Number.isSafeInteger(tokens) && Number(tokens) > 0 && Number.isFinite(learnedAt);
  });
  return Object.fromEntries(entries) as LearnedLimits;
}

// Windows that providers have stated, for every process on one store: what is in the home's file, and what others
// were told. Looked up once a minute behind the calls; a store that doesn't answer costs one refused request a
// process, never a run.

const LOOK_MS = 60_000;

/** Of a home: its file, and its store where that is shared. */
export function windowsOf(directory: string, shared: SharedLimits | undefined, clock: () => Date): LimitsStore {
  return sharedWindows(limitsOfHome(directory), shared, clock);
}

/** What was stated about a model, in the home's file and where others look; the limits that were forgotten. */
export async function forgetWindows(
  directory: string,
  shared: SharedLimits | undefined,
  model: Parameters<typeof addressOfLimits>[0],
): Promise<readonly number[]> {
  const file = limitsOfHome(directory);
  const told = await (shared?.windows() ?? []);
  const limits: LearnedLimits = {
    ...Object.fromEntries(told.map(({ endpoint, ...limit }) => [endpoint, limit])),
    ...file.read(),
  };
  const endpoints = endpointsWith(limits, addressOfLimits(model));
  const kept = Object.entries(file.read()).filter(([endpoint]) => !endpoints.includes(endpoint));
  if (endpoints.length > 0) file.keep(Object.fromEntries(kept));
  for (const endpoint of endpoints) await shared?.dropWindow(endpoint);
  return endpoints.flatMap((endpoint) => limits[endpoint]?.tokens ?? []);
}

export function sharedWindows(file: LimitsStore, shared: SharedLimits | undefined, clock: () => Date): LimitsStore {
  if (shared === undefined) return file;
  let stated: LearnedLimits = {};
  let looked = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const windows = await shared.windows();
    stated = Object.fromEntries(windows.map(({ endpoint, ...limit }) => [endpoint, limit]));
  };
  const latest = (): LearnedLimits => {
    const now = clock().getTime();
    if (Math.abs(now - looked) >= LOOK_MS) {
      looked = now;
      void look().catch(() => {});
    }
    return stated;
  };
  latest();
  return {
    read: () => ({ ...file.read(), ...latest() }),
    latest,
    keep(limits) {
      file.keep(limits);
      for (const [endpoint, limit] of Object.entries(limits)) {
        if (stated[endpoint]?.learnedAt === limit.learnedAt) continue;
        stated = { ...stated, [endpoint]: limit };
        void shared.putWindow({ endpoint, ...limit }).catch(() => {});
      }
    },
  };
}
