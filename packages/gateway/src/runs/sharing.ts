/**
 * What is decided about runs that other instances may follow: when their events are written, how an event is named, and
 * what is known of a run whose process is gone. Pure.
 */
import type { AgentEvent, RunResult } from "palimpsest/agent";
import { NO_USAGE } from "palimpsest/internal/models";

/** `along`: in small batches as they come. `at-end`: at once, unless somebody asks before. */
export type Writes = "along" | "at-end";

/**
 * Whoever reads a stream may lose it and come back elsewhere. Who waits for the whole doesn't know the run's name before its
 * end, so nobody follows it until somebody asks.
 */
export function writesOf({ streams, followed }: { readonly streams: boolean; readonly followed: boolean }): Writes {
  return streams || followed ? "along" : "at-end";
}

export const BATCH_MS = 100;
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

/** `17`, or `run:17`; null: it is no event of this run. */
export function readEventId(text: string, run: string): number | null {
  const digits = text.startsWith(`${run}:`) ? text.slice(run.length + 1) : text;
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}

export interface Heard {
  /** Of the answer that was under way: what is in no record yet. */
  readonly text: string;
  readonly threadId: string | null;
  /** The record that was told of last; null: none was. */
  readonly seq: number | null;
  readonly steps: number;
}

const NOTHING_HEARD: Heard = { text: "", threadId: null, seq: null, steps: 0 };

/** What the events of a run that broke off say, in their order. */
export function heardIn(events: Iterable<string>): Heard {
  let heard = NOTHING_HEARD;
  for (const line of events) heard = heardMore(heard, JSON.parse(line) as AgentEvent);
  return heard;
}

function heardMore(heard: Heard, event: AgentEvent): Heard {
  switch (event.type) {
    case "run-start":
      return { ...heard, threadId: event.threadId };
    case "text-delta":
      return { ...heard, text: heard.text + event.text };
    case "message-append": {
      const isAnswer = event.role === "assistant";
      return { ...heard, seq: event.seq, text: isAnswer ? "" : heard.text, steps: heard.steps + (isAnswer ? 1 : 0) };
    }
    default:
      return heard;
  }
}

/** How a run ended whose process is gone. */
export function abortedResult(
  { text, steps }: Heard,
  run: { readonly id: string; readonly threadId: string },
): RunResult {
  const nothing = { output: null, usage: NO_USAGE, error: null };
  return { threadId: run.threadId, runId: run.id, end: { kind: "aborted" }, text, steps, ...nothing };
}
