/**
 * The policies ours is measured against: nothing, keep the last, mask at each step, batch prune, summarize. The building
 * blocks of `field.ts`, which names the published defaults of others.
 */
import { applyPrune } from "@palimpsest/core/internal/log";
import { openaiShape } from "@palimpsest/core/internal/message";
import type { Policy, View } from "./policy.ts";
import { groupStart, summarizeOlder } from "./summarize.ts";

const MASK = "[Old tool result content cleared]";

export const neverPrune: Policy = { name: "never-prune", prepare: (view) => ({ view, calls: [] }) };

/** All results but the newest `keep`, at every step. */
export function maskEachStep(keep: number): Policy {
  return {
    name: `mask all but the last ${keep} results`,
    prepare(view) {
      const results = view.flatMap(({ message }, index) => (openaiShape.role(message) === "tool" ? [index] : []));
      return { view: mask(view, new Set(results.slice(0, Math.max(0, results.length - keep)))), calls: [] };
    },
  };
}

/** Results outside the newest `protect` tokens, when that frees at least `minimum` and the view is at least `from`. */
export function batchPrune(protect: number, minimum: number, from: number): Policy {
  return {
    name: `batch: protect ${protect / 1000}k, minimum ${minimum / 1000}k${from > 0 ? `, from ${from / 1000}k` : ""}`,
    prepare(view, { meter, fixedTokens }) {
      const sizes = view.map(({ message }) => meter.message(message));
      const total = sizes.reduce((sum, tokens) => sum + tokens, fixedTokens);
      if (total < from) return { view, calls: [] };
      let keptTokens = 0;
      let freed = 0;
      const old = new Set<number>();
      for (let index = view.length - 1; index >= 0; index--) {
        const { message } = view[index]!;
        if (openaiShape.role(message) !== "tool" || message.content === MASK) continue;
        keptTokens += sizes[index]!;
        if (keptTokens <= protect) continue;
        old.add(index);
        freed += sizes[index]!;
      }
      return { view: freed < minimum ? view : mask(view, old), calls: [] };
    },
  };
}

/** Only the newest `keep` messages are sent; what falls out is gone. */
export function keepLast(keep: number): Policy {
  return {
    name: `keep the last ${keep} messages`,
    prepare(view) {
      if (view.length <= keep) return { view, calls: [] };
      const cut = groupStart(view, view.length - keep);
      const systems = view.slice(0, cut).filter(({ message }) => openaiShape.role(message) === "system");
      const next = [...systems, ...view.slice(cut)];
      return { view: next.length < view.length ? next : view, calls: [] };
    },
  };
}

/** `cached-prefix`: the summarizer is asked behind the conversation itself, which the provider still holds. */
export function summarizeAt(
  window: number,
  share: number,
  keep: number,
  summarizer: "own-call" | "cached-prefix" = "own-call",
): Policy {
  const on = summarizer === "cached-prefix" ? ", on the cached prefix" : "";
  return {
    name: `summarize at ${Math.round(share * 100)} % of ${window / 1000}k, keep ${keep} messages${on}`,
    prepare(view, moment) {
      const prepared = summarizeOlder(view, { ...moment, trigger: window * share, keep });
      if (summarizer === "own-call" || moment.cache === "cold") return prepared;
      const input = moment.fixedTokens + moment.meter.messages(view.map(({ message }) => message));
      return { ...prepared, calls: prepared.calls.map((call) => ({ ...call, input, cached: input })) };
    },
  };
}

function mask(view: View, indices: ReadonlySet<number>): View {
  const fresh = [...indices].some((index) => view[index]!.message.content !== MASK);
  if (!fresh) return view;
  return view.map((entry, index) => {
    if (!indices.has(index) || entry.message.content === MASK) return entry;
    const replaced = applyPrune(
      entry.message,
      { target: 0, part: 0, replacement: MASK, reason: "stale-output" },
      openaiShape,
    );
    return { ...entry, message: replaced };
  });
}
