/**
 * Ours: the planner's own decision before each request, with the defaults of `createDeepAgent`, and the extract that stands
 * in a prompt where no model writes summaries. No call is paid for.
 */
import { planCompaction } from "@palimpsest/core/internal/compaction";
import { applyPrune, type PruneEntry } from "@palimpsest/core/internal/log";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { buildPrompt, createSizer, fixedSize } from "@palimpsest/core/internal/prompt";
import { answerReserve } from "@palimpsest/core/internal/tokens";
import type { Summarization } from "palimpsest/home";
import { homeOriginals } from "palimpsest/internal/compaction";
import { summarizationFromOptions } from "palimpsest/internal/config";
import { openExtract } from "./extract-view.ts";
import type { Policy, View } from "./policy.ts";

export function ours(window: number, settings: Summarization = summarizationFromOptions(), name = "ours"): Policy {
  const reserve = answerReserve(window, null);
  const { enabled, from, protectTokens, minGainTokens } = settings.prune;
  const prunes = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  const number = numbering();
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
      const numbered = number(view);
      const prompt = buildPrompt(numbered.view, { sizer, key: "" });
      const plan = planCompaction(prompt, {
        window: { size: window, reserve },
        policy: settings.policy,
        cause: "automatic",
        grown: null,
        prune: enabled
          ? { cache, policy: prunes, prices, marks: marks === null ? null : seqsOf(numbered.view, marks) }
          : null,
        originals: homeOriginals,
      });
      if (plan.kind !== "compact") return { view, calls: [] };
      if (plan.cut === null) return { view: pruned(numbered.view, plan.entries), calls: [] };
      return { view: numbered.hide(prompt, plan), calls: [] };
    },
  };
}

/** What was fetched comes with numbers beyond the rest: each message is numbered by its place. A new transcript begins anew. */
function numbering() {
  let numbers = new WeakMap<OpenAiMessage, number>();
  let last = 0;
  let hide = openExtract();
  return (view: View) => {
    if (!view.some(({ source, message }) => source === "summary" || numbers.has(message))) {
      numbers = new WeakMap();
      last = 0;
      hide = openExtract();
    }
    const place = (message: OpenAiMessage): number => {
      const known = numbers.get(message) ?? ++last;
      numbers.set(message, known);
      return known;
    };
    return { hide, view: view.map((entry) => (entry.seq === null ? entry : { ...entry, seq: place(entry.message) })) };
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
