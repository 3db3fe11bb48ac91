/**
 * What one run may spend, in tokens or money: its own calls, its summaries and its children together. It is looked at
 * before each model call, so that a run ends between two steps, with everything in the log.
 */
import { costOf } from "../../models/cost.ts";
import { knownPrices, type TokenPrices } from "../../models/known-prices.ts";
import { addUsage, NO_USAGE, type Usage } from "../../models/usage.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, RunEnd } from "../events.ts";

export interface RunBudget {
  /** Input and output of all calls together; what is read from a cache counts in full. */
  readonly tokens?: number;
  /** In US dollars. */
  readonly cost?: number;
  /** Per million tokens; without them the table of known models, in US dollars. */
  readonly prices?: TokenPrices;
}

export interface OpenBudget {
  /** What the run tells also says what was spent beside its own calls. */
  hear(event: AgentEvent): void;
  spend(usage: Usage | null): void;
  /** The end, if the next call has no room: its prompt alone, read without a cache, would go beyond. */
  endBefore(promptTokens: number): RunEnd | null;
}

/** Throws an `AgentError` for a budget that can't be kept. */
export function openBudget({ tokens, cost, prices: given }: RunBudget, model: string): OpenBudget {
  for (const [name, limit] of Object.entries({ tokens, cost })) {
    if (limit !== undefined && !(limit > 0))
      throw new AgentError("bad-budget", `budget.${name} must be above 0, it is ${limit}`);
  }
  const prices = given ?? knownPrices(model);
  if (cost !== undefined && prices === null) {
    throw new AgentError("bad-budget", `no price is known for ${model}: give budget.prices, or a budget in tokens`);
  }
  let spent: Usage = NO_USAGE;
  let money = 0;
  const spend = (usage: Usage | null, at = prices): void => {
    spent = addUsage(spent, usage);
    if (usage !== null && at !== null) money += costOf(usage, at).spent;
  };
  return {
    spend: (usage) => spend(usage),
    hear(event) {
      if (event.type === "summary-usage") spend({ ...NO_USAGE, input: event.input, output: event.output });
      if (event.type === "subagent-end") spend(event.usage, given ?? knownPrices(event.model) ?? prices);
    },
    endBefore(promptTokens) {
      const total = spent.input + spent.output;
      const next = prices === null ? 0 : costOf({ ...NO_USAGE, input: promptTokens }, prices).spent;
      const over =
        (tokens !== undefined && total + promptTokens > tokens) || (cost !== undefined && money + next > cost);
      return over ? { kind: "budget", tokens: total, cost: prices === null ? null : money } : null;
    },
  };
}
