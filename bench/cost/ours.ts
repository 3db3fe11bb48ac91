/**
 * Ours: the planner's own decision before each request, with the defaults of `createDeepAgent`. It prunes when the prices
 * say so, and hides the older part behind a summary when the window demands it.
 */
import { type Policy as CompactionPolicy, planCompaction } from "@palimpsest/core/compaction";
import { applyPrune, type PruneEntry } from "@palimpsest/core/log";
import { openaiShape } from "@palimpsest/core/message";
import type { Policy, View } from "./policy.ts";
import { hideBefore } from "./summarize.ts";

const DEFAULTS: CompactionPolicy = {
  trigger: [{ type: "fraction", value: 0.85 }],
  keep: [
    { type: "messages", value: 6 },
    { type: "fraction", value: 0.25 },
  ],
  lowWater: 0.6,
  minGain: 0.1,
  maxSummaryTokens: null,
  summaryFormat: "pair",
};

export function ours(window: number): Policy {
  return {
    name: "ours",
    prepare(view, { meter, fixedTokens, cache }) {
      const plan = planCompaction({
        view,
        shape: openaiShape,
        measure: meter,
        fixed: fixedTokens,
        window: { size: window, reserve: 4096 },
        policy: DEFAULTS,
        cause: "automatic",
        grown: null,
        prune: { cache },
      });
      if (plan.kind !== "compact") return { view, calls: [] };
      if (plan.cut === null) return { view: pruned(view, plan.entries), calls: [] };
      const hidden = hideBefore(view, plan.cut.tail, meter);
      return { ...hidden, view: pruned(hidden.view, plan.entries) };
    },
  };
}

function pruned(view: View, entries: readonly PruneEntry[]): View {
  const byTarget = Map.groupBy(entries, (entry) => entry.target);
  return view.map((entry) => {
    const edits = entry.seq === null ? undefined : byTarget.get(entry.seq);
    if (edits === undefined) return entry;
    const message = edits.reduce((edited, edit) => applyPrune(edited, edit, openaiShape), entry.message);
    return { ...entry, message };
  });
}
