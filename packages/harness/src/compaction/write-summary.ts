/**
 * Gets one summary written: by the writer while it is trusted, else by the extract. A failing writer is left alone for a
 * while; each failure is an event, never an exception, and never the end of the compaction.
 */

import type { Cut, WrittenSummary } from "@palimpsest/core/compaction";
import { extractState } from "@palimpsest/core/internal/compaction";
import { errorText } from "@palimpsest/core/internal/text";
import { inTurns } from "../pace.ts";
import type { OnCompactionEvent } from "./events.ts";
import type { SummaryJob, SummaryResult, SummaryWriter } from "./summary-writer.ts";

export interface SummaryStepOptions {
  readonly writer: SummaryWriter | null;
  readonly clock: () => Date;
  readonly on: OnCompactionEvent;
}

/** A summary that was written for a cut, and may be the beginning of one for a further cut. */
export interface EarlierSummary {
  readonly cut: Cut;
  readonly written: WrittenSummary;
}

interface Writing {
  /** `none`: only what needs no model. */
  readonly model: "writer" | "none";
  readonly signal: AbortSignal | undefined;
}

export interface SummaryStep {
  /** Always a summary, by a model or by rules. */
  write<M>(job: SummaryJob<M>, writing: Writing): Promise<WrittenSummary>;
  /** One by the writer, or none. */
  draft<M>(job: SummaryJob<M>, signal: AbortSignal): Promise<WrittenSummary | null>;
}

/** What could not be shown is not worth a call. */
const LEAST_WORDS = 16;

export function createSummaryStep({ writer, clock, on }: SummaryStepOptions): SummaryStep {
  let breaker: Breaker = FRESH_BREAKER;
  const ask = async <M>(job: SummaryJob<M>, signal: AbortSignal): Promise<SummaryResult | null> => {
    const short = job.wordTokens !== undefined && job.wordTokens < LEAST_WORDS;
    if (writer === null || short || !mayCall(breaker, clock().getTime())) return null;
    const result = await call(writer, job, signal);
    if (result.usage !== undefined) on({ type: "summary-usage", calls: result.calls, ...result.usage });
    if (result.kind === "written") {
      breaker = FRESH_BREAKER;
      const corrected = result.corrected ?? [];
      if (corrected.length > 0) on({ type: "summary-corrected", corrected });
    } else if (result.reason !== "aborted") {
      on({ type: "summary-failed", reason: result.reason, detail: result.detail });
      breaker = afterFailure(breaker, clock().getTime());
      if (breaker.closedAt > 0) {
        on({ type: "breaker-open", failures: breaker.failures, until: new Date(breaker.closedAt).toISOString() });
      }
    }
    return result;
  };
  return {
    async draft(job, signal) {
      const result = await ask(job, signal);
      return result?.kind === "written" ? byWriter(result) : null;
    },
    async write(job, { model, signal }) {
      const result =
        model === "none" || writer === null ? null : await ask(job, signal ?? new AbortController().signal);
      if (result?.kind === "written") return byWriter(result);
      const state = await inTurns(extractState(job.input, job.shape, job));
      return { rung: "extract", state, calls: result?.calls ?? 0, digested: 0 };
    },
  };
}

/** Extended to all that the job covers by rules: no model is result again. */
export async function completed<M>({ cut, written }: EarlierSummary, job: SummaryJob<M>): Promise<WrittenSummary> {
  const rest = job.input.entries.filter(({ seq }) => seq > cut.covers[1]);
  if (rest.length === 0) return written;
  const share = Math.min(1, Math.max(0.1, 1 - cut.hiddenTokens / Math.max(1, job.hiddenTokens)));
  const input = { ...job.input, prior: written.state, entries: rest };
  const maxTokens = Math.floor(job.maxTokens * share);
  return { ...written, state: await inTurns(extractState(input, job.shape, { maxTokens, count: job.count })) };
}

function byWriter({ state, calls, digested }: Extract<SummaryResult, { kind: "written" }>): WrittenSummary {
  return { rung: "summarize", state, calls, digested };
}

async function call<M>(writer: SummaryWriter, job: SummaryJob<M>, signal: AbortSignal): Promise<SummaryResult> {
  try {
    return await writer(job, signal);
  } catch (error) {
    const detail = errorText(error);
    return { kind: "failed", reason: signal.aborted ? "aborted" : "error", detail, calls: 1 };
  }
}

/** Stops calling a writer that keeps failing: after a few failures in a row it is left alone for a while, each time longer. */
interface Breaker {
  readonly failures: number;
  /** Milliseconds since the epoch before which the summarizer is left alone. */
  readonly closedAt: number;
}

const FRESH_BREAKER: Breaker = { failures: 0, closedAt: 0 };

const TOLERATED = 2;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

function mayCall(breaker: Breaker, now: number): boolean {
  return now >= breaker.closedAt;
}

function afterFailure(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < TOLERATED) return { failures, closedAt: 0 };
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(20, failures - TOLERATED));
  return { failures, closedAt: now + pause };
}
