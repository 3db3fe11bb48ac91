/** Deletes threads that nobody changed for `gateway.retention_days`, of every user, with all that goes with them. */
import { deleteInHome } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { everyThread, everyUser } from "palimpsest/stores";

export interface Swept {
  readonly deleted: number;
  /** Those that were being written to: the next time. */
  readonly busy: number;
}

/** A sub-agent's thread goes with its parent's; a fork keeps what it shares. */
export async function deleteOldThreads(home: Home, before: Date): Promise<Swept> {
  const limit = before.toISOString();
  const swept = { deleted: 0, busy: 0 };
  for await (const { userId } of everyUser(home.store)) {
    const own = home.forUser(userId);
    const old: string[] = [];
    for await (const { header, updatedAt } of everyThread(own.store, { kind: "main" }))
      if (updatedAt < limit) old.push(header.id);
    for (const id of old) {
      const { kind } = await deleteInHome(own, id);
      if (kind === "deleted") swept.deleted += 1;
      if (kind === "busy") swept.busy += 1;
    }
  }
  return swept;
}

interface SweepingOptions {
  readonly clock: () => Date;
  readonly onSwept: (deleted: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Keeps a home free of threads that nobody changed for so many days. */
export function sweepingOf(home: Home, days: number, { clock, onSwept, onError }: SweepingOptions): Sweeping {
  const sweep = async () => {
    const { deleted } = await deleteOldThreads(home, new Date(clock().getTime() - days * DAY_MS));
    onSwept(deleted);
  };
  return keepSweeping(sweep, onError);
}

const DAY_MS = 86_400_000;

export interface Sweeping {
  /** Waits for the sweep that is under way. */
  stop(): Promise<void>;
}

/** Now and once an hour. One that fails is told and tried again with the next. */
function keepSweeping(sweep: () => Promise<unknown>, onError: (error: unknown) => void): Sweeping {
  let current = Promise.resolve();
  const next = () => {
    current = current.then(async () => {
      await sweep().catch(onError);
    });
  };
  next();
  const timer = setInterval(next, HOUR_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      return current;
    },
  };
}

const HOUR_MS = 3_600_000;
