/** What a person is told of how a compaction ended. */
import type { CompactionOutcome, PlanGoal } from "@palimpsest/core/compaction";

type Unchanged = Extract<CompactionOutcome, { kind: "unchanged" }>;

export function unchanged(reason: Unchanged["reason"], tokens: number): Unchanged {
  return { kind: "unchanged", reason, tokens, detail: WHY[reason] };
}

const WHY: Readonly<Record<Unchanged["reason"], string>> = {
  "below-trigger": "no threshold is reached and the view fits the window",
  waiting: "the view has not grown by the minimum gain since the last attempt, and it fits",
  "nothing-to-cut": "everything that could be hidden is already hidden or must be kept",
  "no-shrink": "the result would not be smaller than what it replaces",
  aborted: "it was stopped before anything was written",
  busy: "another run holds the thread",
  conflict: "somebody else wrote to the thread first",
  "no-history": "there is no stored history to compact",
};

/** Null where all that was promised is kept below the trigger: the low-water mark is an aim. */
export function shortfallOf(goal: PlanGoal): string | null {
  return goal === "low-water" || goal === "keep" ? null : SHORTFALL[goal];
}

const SHORTFALL = {
  less: "there is no room below the trigger for all that keep promises: less of it was kept, or long messages were shortened",
  window: "the view fits the window, but what must stand is above the low-water mark",
} as const;
