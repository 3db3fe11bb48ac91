/** How far an import is, told often enough that it never seems to stand still; and the moments at which it can be ended. */
import { pace } from "../long-work.ts";
import type { ImportOptions } from "./import-file.ts";

export function progressOf(size: number, { onProgress, signal }: Pick<ImportOptions, "onProgress" | "signal">) {
  const steps = pace(signal);
  let [threads, wrote] = [1, 0];
  let again = 0;
  const tell = async (phase: "reading" | "writing", done: number): Promise<void> => {
    onProgress?.({ phase, done: Math.min(1, done) });
    await steps.turn();
  };
  return {
    read: async (bytes: number) => {
      if (steps.isDue()) await tell("reading", bytes / Math.max(1, size));
    },
    /** Between two steps of the writing. */
    pause: async () => {
      if (steps.isDue()) await steps.turn();
    },
    writes: (count: number) => {
      threads = Math.max(1, count);
      return tell("writing", 0);
    },
    /** A large file is read while it is written: its bytes say more than its threads. */
    readAgain: async (bytes: number) => {
      again = bytes / Math.max(1, size);
      if (steps.isDue()) await tell("writing", Math.max(again, wrote / threads));
    },
    wrote: () => {
      wrote += 1;
      return tell("writing", again === 0 ? wrote / threads : Math.max(again, wrote / threads));
    },
  };
}
