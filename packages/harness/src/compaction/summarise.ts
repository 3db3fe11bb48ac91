/**
 * Gets one summary written: by the writer while it is trusted, else by the extract. A failing writer is left alone for a
 * while; each failure is an event, never an exception, and never the end of the compaction.
 */
import { extractState, type SummaryInput, type WrittenSummary } from "@palimpsest/core/compaction";
import type { Shape } from "@palimpsest/core/message";
import { afterFailure, type Breaker, FRESH_BREAKER, mayCall } from "./breaker.ts";
import type { OnCompactionEvent } from "./events.ts";
import type { SummaryJob, SummaryResult, SummaryWriter } from "./summary-writer.ts";

export interface SummariserOptions {
  readonly writer: SummaryWriter | null;
  readonly clock: () => Date;
  readonly on: OnCompactionEvent;
}

interface Order<M> {
  readonly input: SummaryInput<M>;
  readonly shape: Shape<M>;
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  readonly hiddenTokens: number;
  readonly focus: string | null;
  /** `none`: only what needs no model. */
  readonly model: "writer" | "none";
  readonly signal: AbortSignal;
}

type Summarised = Omit<WrittenSummary, "text"> & { readonly calls: number; readonly digested: number };

export type Summariser = <M>(order: Order<M>) => Promise<Summarised>;

export function createSummariser({ writer, clock, on }: SummariserOptions): Summariser {
  let breaker: Breaker = FRESH_BREAKER;
  return async (order) => {
    const asked =
      writer !== null && order.model === "writer" && mayCall(breaker, clock().getTime())
        ? await ask(writer, order, on)
        : null;
    if (asked?.kind === "written") {
      breaker = FRESH_BREAKER;
      return { rung: "summarize", state: asked.state, calls: asked.calls, digested: asked.digested };
    }
    if (asked !== null && asked.reason !== "aborted") {
      on({ type: "summary-failed", reason: asked.reason, detail: asked.detail });
      breaker = afterFailure(breaker, clock().getTime());
      if (breaker.closedAt > 0) {
        on({ type: "breaker-open", failures: breaker.failures, until: new Date(breaker.closedAt).toISOString() });
      }
    }
    return {
      rung: "extract",
      state: extractState(order.input, order.shape, order),
      calls: asked?.calls ?? 0,
      digested: 0,
    };
  };
}

async function ask<M>(writer: SummaryWriter, order: Order<M>, on: OnCompactionEvent): Promise<SummaryResult> {
  const job: SummaryJob<M> = { ...order, onProgress: (done, of) => on({ type: "summary-progress", done, of }) };
  try {
    return await writer(job, order.signal);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason: order.signal.aborted ? "aborted" : "error", detail, calls: 1 };
  }
}
