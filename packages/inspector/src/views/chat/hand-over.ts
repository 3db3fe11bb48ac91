/** The first message of a thread that is just being opened, handed over by the view that made it. */
import type { NewRun } from "palimpsest/client";

const runs = new Map<string, NewRun>();

export function handOver(threadId: string, run: NewRun): void {
  runs.set(threadId, run);
}

/** Once. */
export function takeOver(threadId: string): NewRun | null {
  const run = runs.get(threadId) ?? null;
  runs.delete(threadId);
  return run;
}
