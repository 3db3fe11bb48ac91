/**
 * Whether the store takes what is written to it. Requests pass when it doesn't, so it has to be said elsewhere: a line in
 * the log at once and each minute while it lasts, a metric, and `/readyz`. While something fails, a small write is tried
 * by itself, so that a gateway that gets no requests any more finds out that it may have them again.
 */
import type { After } from "../http/event-stream.ts";
import { storeCodeOf } from "../http/problem.ts";
import type { Log } from "./log.ts";

export interface StoreHealth {
  /** Told of whatever went wrong; counts what the store is the reason of. */
  failed(error: unknown): void;
  /** Something was written. */
  wrote(): void;
  /** Whether writes fail now. One that failed before is tried again first. */
  state(): Promise<"writable" | "failing">;
  stop(): Promise<void>;
}

export interface StoreHealthDeps {
  /** Writes something and takes it back. Without it the store counts as writable after a minute without a failure. */
  readonly probe: (() => Promise<void>) | undefined;
  readonly log: Log;
  readonly clock: () => Date;
  readonly after: After;
  readonly onFailure: (code: string) => void;
}

interface Trouble {
  readonly since: Date;
  code: string;
  failures: number;
  /** Since the last look. */
  recent: number;
  /** Whether a line has told of it: of what was not told of, the end isn't either. */
  told: boolean;
}

const LINE_MS = 60_000;

export function storeHealth({ probe, log, clock, after, onFailure }: StoreHealthDeps): StoreHealth {
  let trouble: Trouble | null = null;
  let lastLine = Number.NEGATIVE_INFINITY;
  /** An error may be told of by each of those whom it passes on its way. */
  const known = new WeakSet<Error>();
  let cancel = (): void => {};
  const line = (store: "failing" | "recovered", { since, code, failures }: Trouble): void => {
    const time = clock();
    if (store === "failing") [lastLine, trouble!.told] = [time.getTime(), true];
    const level = store === "failing" ? "error" : "info";
    log({ time: time.toISOString(), level, store, code, failures, since: since.toISOString() });
  };
  const end = (): void => {
    if (trouble === null) return;
    cancel();
    if (trouble.told) line("recovered", trouble);
    trouble = null;
  };
  const isOver = async (): Promise<boolean> => {
    if (probe === undefined) return trouble?.recent === 0;
    return probe().then(
      () => true,
      () => false,
    );
  };
  const look = async (): Promise<void> => {
    if (await isOver()) return end();
    if (trouble === null) return;
    line("failing", trouble);
    trouble.recent = 0;
    cancel = after(LINE_MS, () => void look());
  };
  return {
    failed(error) {
      const code = storeCodeOf(error);
      // One that is closed was closed on purpose.
      if (code === null || code === "closed" || known.has(error as Error)) return;
      known.add(error as Error);
      onFailure(code);
      trouble ??= { since: clock(), code, failures: 0, recent: 0, told: false };
      Object.assign(trouble, { code, failures: trouble.failures + 1, recent: trouble.recent + 1 });
      if (trouble.failures > 1) return;
      // One that comes and goes is told of once a minute, too.
      if (clock().getTime() - lastLine >= LINE_MS) line("failing", trouble);
      cancel = after(LINE_MS, () => void look());
    },
    wrote: end,
    async state() {
      if (trouble !== null && (await isOver())) end();
      return trouble === null ? "writable" : "failing";
    },
    async stop() {
      cancel();
    },
  };
}
