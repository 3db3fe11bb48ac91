/**
 * The planner: given a prompt, a window and a policy it says what to hide, what to shorten and why, or why nothing should
 * happen. Synchronous, total, without a model: for any prompt and any window above its floor the plan fits the window.
 * It only decides; `harness/compaction` writes the summary and appends the records.
 */
import type { PruneEntry } from "../log/record.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { Originals } from "../summary/internal.ts";
import { asked, chooseCut, compactPlan, gentlestCut, type NoCut, type PlanGoal, whyNone } from "./choice.ts";
import { collapse, type Floor } from "./collapse.ts";
import { boundaries, type Cut, type CutSizes, cutSizes } from "./cut.ts";
import {
  checkTrigger,
  type Growth,
  type Limits,
  limitsOf,
  type Policy,
  styled,
  type Threshold,
  type Window,
} from "./policy.ts";
import { type PruneRung, planByPrice } from "./prune.ts";

export interface PlanOptions {
  readonly window: Window;
  readonly policy: Policy;
  /** `manual` compacts whatever the size; `overflow` follows a provider's refusal and must shrink. */
  readonly cause: "automatic" | "manual" | "overflow";
  /** What was said since the last attempt; null when there was none. */
  readonly grown: Growth | null;
  /** What the summary came to, when one was written for this view and keep left it no room; keep then gives way. */
  readonly summaryTokens?: number;
  /** By how much a result was over what its plan expected. */
  readonly overshoot?: number;
  /** Null: prices ask for nothing. */
  readonly prune: PruneRung | null;
  /** Where the model can read shortened parts; not mentioned if absent. */
  readonly originals?: Originals;
}

export type Plan =
  | { readonly kind: "none"; readonly reason: "below-trigger" | "waiting" | NoCut; readonly tokens: number }
  | { readonly kind: "impossible"; readonly floor: Floor }
  | CompactPlan;

export interface CompactPlan {
  readonly kind: "compact";
  /** The rung it stands on; `hide` is summarized or, without a model, extracted. */
  readonly rung: "prune" | "hide" | "clamp" | "collapse";
  /** Null: nothing is hidden, only shortened. */
  readonly cut: Cut | null;
  /** What is shortened in what stays visible. */
  readonly entries: readonly PruneEntry[];
  /** What asked for it: the threshold met, or `manual`, `overflow`, `window`. */
  readonly reason: Threshold | "manual" | "overflow" | "window" | "price";
  readonly tokensBefore: number;
  /** Upper bound: the summary may be shorter than its budget. */
  readonly tokensAfter: number;
  /** A result over this is planned again, with what it came to. */
  readonly maxTokens: number;
  readonly goal: PlanGoal;
}

export function planCompaction<M>(prompt: Prompt<M>, options: PlanOptions): Plan {
  const sizes = cutSizes(prompt, { ...options, format: options.policy.summaryFormat });
  const input = { prompt, ...options, policy: styled(options.policy) };
  const limits = limitsOf(input.policy, options.window, sizes.outside);
  const plan = planHiding(input, sizes, limits);
  if (plan.kind !== "none") return plan;
  return planByPrice(input, sizes, limits) ?? plan;
}

export interface PlanInput<M> extends PlanOptions {
  readonly prompt: Prompt<M>;
}

function planHiding<M>(input: PlanInput<M>, sizes: CutSizes, limits: Limits): Plan {
  const { policy, window, prompt } = input;
  const { total: tokens, outside, messages } = sizes;
  const fits = tokens <= limits.fits && input.cause !== "overflow";
  const trigger = checkTrigger(policy, { tokens, outside, messages }, input.grown, window);
  const forced = input.cause !== "automatic" || !fits;
  if (!forced && trigger.kind !== "met") return { kind: "none", reason: trigger.kind, tokens };

  const cuts = boundaries(prompt.entries, prompt.sizer.shape);
  const least = input.summaryTokens ?? 0;
  const choices = { sizes, cuts, window, least, ...asked(input.cause, { policy, sizes, limits }) };
  const isGentle = input.cause === "manual" && fits;
  const choice = isGentle ? gentlestCut(choices) : chooseCut(choices, fits ? "seen" : "all");
  if (choice === null && fits) return { kind: "none", reason: whyNone(choices), tokens };
  if (choice === null) return collapse(input, sizes, limits);
  const reason = input.cause !== "automatic" ? input.cause : trigger.kind === "met" ? trigger.threshold : "window";
  return compactPlan(input, sizes, choice, reason);
}
