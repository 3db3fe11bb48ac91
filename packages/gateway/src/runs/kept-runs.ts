/** Runs by their id: those under way, and of those that have ended the newest, as long as they are few, small and fresh. */
import type { GatewayRun } from "./run.ts";

const KEPT_MS = 5 * 60_000;
const MOST_KEPT = 500;
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

export class KeptRuns {
  readonly #runs = new Map<string, GatewayRun>();
  readonly #clock: () => Date;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  add(run: GatewayRun): void {
    this.#runs.set(run.facts.id, run);
  }

  remove(run: GatewayRun): void {
    this.#runs.delete(run.facts.id);
  }

  find(id: string): GatewayRun | null {
    this.prune();
    return this.#runs.get(id) ?? null;
  }

  prune(): void {
    const now = this.#clock().getTime();
    let bytes = 0;
    let count = 0;
    for (const run of [...this.#runs.values()].reverse()) {
      if (run.endedAt === null) continue;
      bytes += run.log.bytes;
      count += 1;
      if (count > MOST_KEPT || bytes > MOST_KEPT_BYTES || now - run.endedAt.getTime() > KEPT_MS) this.remove(run);
    }
  }
}
