/**
 * The store as one request uses it: each operation reports its duration and outcome, writes are refused until a caller's
 * provider key is accepted, and where the client must not wait, an operation without an answer is an error. One layer over
 * the home's own store. Streams of records aren't measured.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { AppendBatch, Lease, Store } from "palimpsest/stores";
import type { After } from "../http/event-stream.ts";
import { ProblemError, storeCodeOf } from "../http/problem.ts";
import type { Log } from "./log.ts";

interface RequestStoreOptions extends StoreGuard {
  readonly took: (operation: string, seconds: number) => void;
  readonly health: Pick<StoreHealth, "failed" | "wrote">;
}

export interface StoreGuard {
  /** Whether all that is known of the caller is a key that no provider has accepted yet: then nothing is written. */
  readonly isStranger?: () => boolean;
  /** An operation that takes longer fails; without it there is no limit. */
  readonly silenceMs?: number;
}

export function requestStore(store: Store, options: RequestStoreOptions): Store {
  const { silenceMs } = options;
  const own: Store = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof name !== "string") return value;
      if (name === "forUser") return (userId: string) => (userId === store.userId ? own : store.forUser(userId));
      if (silenceMs !== undefined && name === "records") return quickRecords(store, silenceMs);
      if (silenceMs !== undefined && IN_TIME.has(name)) return value && quick(value, silenceMs);
      if (!isOperation(value) || name === "records" || name === "close") return value;
      return (...args: unknown[]) => operated(name, () => value.apply(target, args), args);
    },
  });
  return own;

  async function operated(name: string, work: () => Promise<unknown>, args: readonly unknown[]): Promise<unknown> {
    if (WRITES.has(name) && options.isStranger?.() === true) throw new ProblemError(403, "key-not-accepted", NOT_YET);
    const started = performance.now();
    try {
      const result = await (silenceMs === undefined ? work() : inTime(store, { name, args, silenceMs }, work));
      if (name === "append" || name === "appendFirst" || name === "redact") options.health.wrote();
      return result;
    } catch (error) {
      options.health.failed(error);
      throw error;
    } finally {
      options.took(name, (performance.now() - started) / 1000);
    }
  }
}

/** Capabilities that must answer in time, too. */
const IN_TIME: ReadonlySet<string> = new Set(["search", "drafts", "prompts", "matches"]);

const WRITES: ReadonlySet<string> = new Set([
  "createThread",
  "append",
  "appendFirst",
  "fork",
  "redact",
  "deleteThread",
  "acquireLease",
  "writeHead",
]);

const NOT_YET = "nothing is kept for a provider's key before that provider has answered with it: ask a model first";

type StoreOperation = (...given: unknown[]) => Promise<unknown>;

function isOperation(value: unknown): value is StoreOperation {
  return typeof value === "function";
}

interface TimedOperation {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly silenceMs: number;
}

/** A long history takes its time to be written: each record adds a millisecond. A lease that comes too late is given back. */
async function inTime(
  store: Store,
  { name, args, silenceMs }: TimedOperation,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const isAppend = name === "append" || name === "appendFirst";
  const { records } = (isAppend ? args[1] : NO_BATCH) as Pick<AppendBatch, "records">;
  const working = work();
  try {
    return await within(silenceMs + records.length, name, working);
  } catch (error) {
    // Otherwise the lease would stay until it expires.
    if (name === "acquireLease" || name === "appendFirst")
      void working.then(
        (late) => giveBack(store, late),
        () => {},
      );
    throw error;
  }
}

const NO_BATCH: Pick<AppendBatch, "records"> = { records: [] };

async function giveBack(store: Store, late: unknown): Promise<void> {
  const { lease } = late as { readonly lease?: Lease };
  if (lease !== undefined) await store.releaseLease(lease).catch(() => {});
}

function quickRecords(store: Store, silenceMs: number): Store["records"] {
  return async function* (thread, query) {
    const rows = store.records(thread, query)[Symbol.asyncIterator]();
    for (;;) {
      const row = await within(silenceMs, "records", rows.next());
      if (row.done) return;
      yield row.value;
    }
  };
}

function quick(capability: object, silenceMs: number): object {
  return new Proxy(capability, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (!isOperation(value) || typeof name !== "string") return value;
      return async (...args: unknown[]) => within(silenceMs, name, value.apply(target, args));
    },
  });
}

class SilentStoreError extends PalimpsestError<"store-silent"> {
  static override readonly kind = "SilentStoreError";
}

async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new SilentStoreError("store-silent", `the store has not answered ${what} for ${ms} ms`)),
      ms,
    );
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/*
 * Whether the store takes what is written to it. Requests pass when it doesn't, so it has to be said elsewhere: a line in
 * the log at once and each minute while it lasts, a metric, and `/readyz`. While something fails, a small write is tried
 * by itself, so that a gateway that gets no requests any more finds out that it may have them again.
 */

export interface StoreHealth {
  /** Told of whatever went wrong; counts what the store is the reason of. */
  failed(error: unknown): void;
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
      if (code === null || code === "closed" || !(error instanceof Error) || known.has(error)) return;
      known.add(error);
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
