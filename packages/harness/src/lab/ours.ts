/**
 * Ours: the planner's own decision before each request, with the defaults of `createDeepAgent`. It prunes when the prices
 * say so, and hides the older part behind a summary when the window demands it.
 */
import { planCompaction } from "@palimpsest/core/compaction";
import { applyPrune } from "@palimpsest/core/internal/log";
import { fixedSize } from "@palimpsest/core/internal/prompt";
import type { PruneEntry } from "@palimpsest/core/log";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { buildPrompt, createSizer } from "@palimpsest/core/prompt";
import { answerReserve } from "@palimpsest/core/tokens";
import { homeOriginals } from "../compaction/part-files.ts";
import { type Summarization, summarizationFromOptions } from "../config/summarization.ts";
import type { Policy, View } from "./policy.ts";
import { hideBefore } from "./summarize.ts";

export function ours(window: number, settings: Summarization = summarizationFromOptions(), name = "ours"): Policy {
  const reserve = answerReserve(window, null);
  const { enabled, from, protectTokens, minGainTokens } = settings.prune;
  const prunes = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  return {
    name,
    prepare(view, { meter, fixedTokens, cache, prices, marks }) {
      const sizer = createSizer({
        shape: openaiShape,
        // As it stands: what a provider would refuse is counted as such elsewhere.
        rules: { name: "none", rules: [] },
        meter,
        fixed: fixedSize({ base: fixedTokens }),
      });
      const plan = planCompaction(buildPrompt(view, { sizer, key: "" }), {
        window: { size: window, reserve },
        policy: settings.policy,
        cause: "automatic",
        grown: null,
        prune: enabled ? { cache, policy: prunes, prices, marks: marks === null ? null : seqsOf(view, marks) } : null,
        originals: homeOriginals,
      });
      if (plan.kind !== "compact") return { view, calls: [] };
      if (plan.cut === null) return { view: pruned(view, plan.entries), calls: [] };
      const hidden = hideBefore(view, plan.cut.tail, meter);
      return { ...hidden, view: pruned(hidden.view, plan.entries) };
    },
  };
}

function seqsOf(view: View, messages: readonly OpenAiMessage[]): readonly number[] {
  return view.flatMap(({ seq, message }) => (seq !== null && messages.includes(message) ? [seq] : []));
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
