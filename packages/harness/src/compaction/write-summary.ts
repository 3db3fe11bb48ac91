/**
 * Gets one summary written: by the writer while it is trusted, else by the extract. A failing writer is left alone for a
 * while; each failure is an event, never an exception, and never the end of the compaction.
 */
import type { Cut, SummaryInput, WrittenSummary } from "@palimpsest/core/compaction";
import { extractState } from "@palimpsest/core/internal/compaction";
import type { Shape } from "@palimpsest/core/message";
import { afterFailure, type Breaker, FRESH_BREAKER, mayCall } from "./breaker.ts";
import type { DraftTable } from "./draft-table.ts";
import type { OnCompactionEvent } from "./events.ts";
import type { SummaryJob, SummaryResult, SummaryWriter } from "./summary-writer.ts";

export interface SummaryStepOptions {
  readonly writer: SummaryWriter | null;
  readonly clock: () => Date;
  readonly on: OnCompactionEvent;
}

export interface Order<M> {
  readonly input: SummaryInput<M>;
  readonly shape: Shape<M>;
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  readonly hiddenTokens: number;
  readonly focus: string | null;
  /** `none`: only what needs no model. */
  readonly model: "writer" | "none";
  readonly drafts: DraftTable | null;
  readonly signal: AbortSignal;
}

export type SummaryOutcome = Omit<WrittenSummary, "text"> & { readonly calls: number; readonly digested: number };

/** A summary that was written for a cut, and may be the beginning of one for a further cut. */
export interface Begun {
  readonly cut: Cut;
  readonly summarised: SummaryOutcome;
}

export interface SummaryStep {
  /** Always a summary, whoever wrote it. */
  write<M>(order: Order<M>): Promise<SummaryOutcome>;
  /** One by the writer, or none. */
  draft<M>(order: Order<M>): Promise<SummaryOutcome | null>;
}

export function createSummaryStep({ writer, clock, on }: SummaryStepOptions): SummaryStep {
  let breaker: Breaker = FRESH_BREAKER;
  const ask = async <M>(order: Order<M>): Promise<SummaryResult | null> => {
    if (writer === null || order.model === "none" || !mayCall(breaker, clock().getTime())) return null;
    const asked = await call(writer, order, on);
    if (asked.usage !== undefined) on({ type: "summary-usage", calls: asked.calls, ...asked.usage });
    if (asked.kind === "written") {
      breaker = FRESH_BREAKER;
      const corrected = asked.corrected ?? [];
      if (corrected.length > 0) on({ type: "summary-corrected", corrected });
    } else if (asked.reason !== "aborted") {
      on({ type: "summary-failed", reason: asked.reason, detail: asked.detail });
      breaker = afterFailure(breaker, clock().getTime());
      if (breaker.closedAt > 0) {
        on({ type: "breaker-open", failures: breaker.failures, until: new Date(breaker.closedAt).toISOString() });
      }
    }
    return asked;
  };
  return {
    async draft(order) {
      const asked = await ask(order);
      return asked?.kind === "written" ? byWriter(asked) : null;
    },
    async write(order) {
      const asked = await ask(order);
      if (asked?.kind === "written") return byWriter(asked);
      const state = extractState(order.input, order.shape, order);
      return { rung: "extract", state, calls: asked?.calls ?? 0, digested: 0 };
    },
  };
}

/** Extended to all that the order covers by rules: no model is asked again. */
export function completed<M>({ cut, summarised }: Begun, order: Order<M>): SummaryOutcome {
  const rest = order.input.entries.filter(({ seq }) => seq > cut.covers[1]);
  if (rest.length === 0) return summarised;
  const share = Math.min(1, Math.max(0.1, 1 - cut.hiddenTokens / Math.max(1, order.hiddenTokens)));
  const input = { ...order.input, prior: summarised.state, entries: rest };
  const maxTokens = Math.floor(order.maxTokens * share);
  return { ...summarised, state: extractState(input, order.shape, { maxTokens, count: order.count }) };
}

function byWriter({ state, calls, digested }: Extract<SummaryResult, { kind: "written" }>): SummaryOutcome {
  return { rung: "summarize", state, calls, digested };
}

async function call<M>(writer: SummaryWriter, order: Order<M>, on: OnCompactionEvent): Promise<SummaryResult> {
  const job: SummaryJob<M> = { ...order, onProgress: (done, of) => on({ type: "summary-progress", done, of }) };
  try {
    return await writer(job, order.signal);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason: order.signal.aborted ? "aborted" : "error", detail, calls: 1 };
  }
}
