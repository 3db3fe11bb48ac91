/**
 * One run of this instance, told to the others: its row, its events in batches, its end. It never holds the run up, and
 * what the store can't take now is written when it can. Closed by others, because this process was silent for longer than
 * its lease, the run is stopped: another process may hold its thread by now.
 */
import type { RunBatch, SharedRuns } from "palimpsest/stores";
import { problemOf } from "../http/problem.ts";
import { failureOf, type GatewayRun, tellable } from "./run.ts";

export interface PublishDeps {
  readonly runs: SharedRuns;
  readonly holder: string;
  readonly ttlMs: number;
  readonly pause: (ms: number) => Promise<void>;
  /** Something was written that followers elsewhere wait for. */
  readonly wake: (id: string) => void;
}

/** So often the end of a run is tried to be told; then its lease ends by itself. */
const ATTEMPTS = 5;
const RETRY_MS = 1000;
/** Characters of one batch, roughly. */
const MOST_CHARS = 65_536;

export class PublishedRun {
  readonly run: GatewayRun;
  /** Resolves when the others know its end, or it is given up. */
  readonly done: Promise<void>;
  readonly #deps: PublishDeps;
  readonly #followed = Promise.withResolvers<void>();
  /**
   * `along`: in small batches as they come, because a reader of a stream may lose it and come back elsewhere. `at-end`: at
   * once, since no other client knows the run's name before its end, unless one asks for it.
   */
  #writes: "along" | "at-end";
  /** The number of the last event that was written. */
  #written = 0;
  /** The database has forgotten what was written: it is written from the first event that is still kept. */
  #isForgotten = false;

  /** `streams`: the client reads it as it comes. */
  constructor(run: GatewayRun, streams: boolean, deps: PublishDeps) {
    this.run = run;
    this.#deps = deps;
    this.#writes = streams ? "along" : "at-end";
    this.done = this.#tell();
  }

  /** A reader on another instance follows. */
  follow(): void {
    this.#writes = "along";
    this.#followed.resolve();
  }

  /** Its row is gone, as after a crash of the database: it is put again. */
  putAgain(): void {
    this.#isForgotten = true;
    void this.#put().catch(() => {});
  }

  async #tell(): Promise<void> {
    await this.#put().catch(() => {});
    if ((await this.#writeAlong()) === "lost") return this.run.stop("caller");
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const state = await this.#close().catch(() => "failed" as const);
      if (state !== "failed") return;
      await this.#deps.pause(RETRY_MS);
    }
  }

  async #put(): Promise<void> {
    const { runs, holder, ttlMs } = this.#deps;
    const { id, thread: threadId, model } = this.run.facts;
    await runs.put({ id, threadId, model, request: null, holder, ttlMs });
  }

  async #writeAlong(): Promise<"ended" | "lost"> {
    const { run } = this;
    const { pause } = this.#deps;
    while (run.status !== "ended") {
      if (this.#writes === "at-end") await Promise.race([run.ended, this.#followed.promise]);
      await untilDue(run, () => run.log.charsAfter(this.#written), pause);
      const state = await this.#writeNext().catch(() => pause(RETRY_MS));
      if (state === "lost") return "lost";
    }
    return "ended";
  }

  async #writeNext(): Promise<"written" | "lost"> {
    const batch = this.#next();
    if (batch === null) return "written";
    const { runs, holder, wake } = this.#deps;
    const { id } = this.run.facts;
    if ((await runs.write(id, holder, batch)) === "lost") return (await this.#isClosed()) ? "lost" : "written";
    if (!this.#isForgotten) this.#written = batch.first + batch.events.length - 1;
    wake(id);
    return "written";
  }

  #next(): RunBatch | null {
    if (this.#isForgotten) this.#written = 0;
    this.#isForgotten = false;
    const slice = this.run.log.after(this.#written, MOST_CHARS);
    if (slice.kind === "gone") this.#written = slice.first - 1;
    const events = slice.kind === "events" ? slice.events : [];
    return events.length === 0 ? null : { first: events[0]!.id, events: events.map(({ data }) => data) };
  }

  /** By others; else the database has forgotten it, and now knows it again. */
  async #isClosed(): Promise<boolean> {
    await this.#put();
    const { runs } = this.#deps;
    if ((await runs.read(this.run.facts.id, Number.MAX_SAFE_INTEGER))?.state === "ended") return true;
    this.#isForgotten = true;
    return false;
  }

  async #close(): Promise<void> {
    const { runs, holder, wake } = this.#deps;
    const { log, facts } = this.run;
    let batch = this.#next();
    while (batch !== null && batch.first + batch.events.length <= log.last) {
      if ((await this.#writeNext()) === "lost") return;
      batch = this.#next();
    }
    const end = { holder, batch, outcome: outcomeOf(this.run) };
    if ((await runs.end(facts.id, end)) === "lost" && !(await this.#isClosed())) return this.#close();
    wake(facts.id);
  }
}

/** Resolves when what waits is worth a write, or the run has ended. */
async function untilDue(run: GatewayRun, waiting: () => number, pause: PublishDeps["pause"]): Promise<void> {
  while (waiting() === 0 && run.status !== "ended") await run.more();
  let ms = 0;
  const late = pause(BATCH_MS).then(() => {
    ms = BATCH_MS;
  });
  const state = () => (run.status === "ended" ? "ended" : "live");
  while (!isBatchDue({ chars: waiting(), ms, run: state() })) await Promise.race([run.more(), late, run.ended]);
}

/** What is kept of a run's end for readers elsewhere. */
export interface Outcome {
  readonly result: Omit<NonNullable<GatewayRun["result"]>, "error">;
  readonly problem: { readonly status: number; readonly code: string; readonly message: string } | null;
  readonly base: number | null;
  readonly wrote: boolean;
  readonly stoppedBy: GatewayRun["stoppedBy"];
}

function outcomeOf(run: GatewayRun): string {
  const { error: _, end, ...result } = run.result!;
  const shown = tellable({ type: "run-end", end }, run.audience);
  const failure = end.kind === "failed" ? problemOf(failureOf(run)) : null;
  const outcome: Outcome = {
    result: { ...result, end: shown.type === "run-end" ? shown.end : end },
    problem: failure && { status: failure.status, code: failure.code, message: failure.message },
    base: run.base,
    wrote: run.wrote,
    stoppedBy: run.stoppedBy,
  };
  return JSON.stringify(outcome);
}

const BATCH_MS = 100;
const BATCH_CHARS = 4096;

/** Whether events that wait for so long are worth a write. */
export function isBatchDue(waiting: {
  readonly chars: number;
  readonly ms: number;
  readonly run: "live" | "ended";
}): boolean {
  if (waiting.run === "ended") return true;
  return waiting.chars >= BATCH_CHARS || (waiting.chars > 0 && waiting.ms >= BATCH_MS);
}
