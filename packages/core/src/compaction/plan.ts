/**
 * The planner: given a view, a window and a policy it says what to hide, what to shorten and why, or why nothing should
 * happen. Synchronous, total, without a model: for any view and any window above its floor the plan fits the window.
 * It only decides; `harness/compaction` writes the summary and appends the records.
 */
import type { PruneEntry } from "../log/record.ts";
import type { ViewEntry } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import type { Originals } from "../summary/index.ts";
import { type Boundary, boundaries } from "./boundaries.ts";
import { type Choice, chooseCut, gentlestCut, type Reach, STUB_TOKENS } from "./choice.ts";
import type { Measure } from "./clamp.ts";
import { type Limits, limitsOf, type Policy, type Threshold, type Window } from "./policy.ts";
import { type PruneRung, planPruning } from "./prune/rung.ts";
import { type Weigher, weigh } from "./tail.ts";
import { checkTrigger, type Growth } from "./trigger.ts";

export interface PlanInput<M> {
  readonly view: readonly ViewEntry<M>[];
  readonly shape: Shape<M>;
  readonly measure: Measure<M>;
  /** Tokens of the request that are no message of the view: system prompt, tool schemas, repairs. */
  readonly fixed: number;
  readonly window: Window;
  readonly policy: Policy;
  /** `manual` compacts whatever the size; `overflow` follows a provider's refusal and must shrink. */
  readonly cause: "automatic" | "manual" | "overflow";
  /** What was said since the last attempt; null when there was none. */
  readonly grown: Growth | null;
  /** What the summary came to, when one was written for this view and keep left it no room; keep then gives way. */
  readonly summaryTokens?: number;
  /** Null: nothing is pruned. */
  readonly prune: PruneRung | null;
  /** How the model can read what is shortened; when absent, nothing is said about it. */
  readonly originals?: Originals;
}

export type Plan =
  | { readonly kind: "none"; readonly reason: "below-trigger" | "waiting" | "nothing-to-cut"; readonly tokens: number }
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
  /** Over this the result is no good: the plan is made again, with what is known then. */
  readonly most: number;
  readonly reaches: Reach;
}

export interface Cut {
  /** Index in the view where the tail begins. */
  readonly tail: number;
  /** Seqs of the newly hidden messages, first and last. */
  readonly covers: readonly [number, number];
  readonly hidden: number;
  readonly kept: number;
  /** Tokens the summary replaces, the folded one included. */
  readonly hiddenTokens: number;
  readonly request: number | null;
  readonly systems: readonly number[];
  /** The most the summary's turn may count. */
  readonly summaryTokens: number;
  /** Set when the open tool group is hidden too: the most its digest may count. */
  readonly digestTokens: number | null;
}

/** What can't be shed, part by part; larger than the window means that no prompt exists. */
export interface Floor {
  readonly fixed: number;
  /** System messages, and the acknowledgement after the summary. */
  readonly systems: number;
  readonly reserve: number;
  readonly request: number;
  readonly summary: number;
  readonly total: number;
  readonly window: number;
}

const REQUEST_TOKENS = 256;

export function planCompaction<M>(input: PlanInput<M>): Plan {
  const weigher = weigh({ ...input, format: input.policy.summaryFormat });
  const limits = limitsOf(input.policy, input.window, weigher.outside);
  const plan = planHiding(input, weigher, limits);
  return planPruning(input, weigher, limits, plan) ?? plan;
}

function planHiding<M>(input: PlanInput<M>, weigher: Weigher, limits: Limits): Plan {
  const { policy, window, view, shape } = input;
  const { total: tokens, outside, messages } = weigher;
  const fits = tokens <= limits.fits;
  const trigger = checkTrigger(policy, { tokens, outside, messages }, input.grown, window);
  const forced = input.cause !== "automatic" || !fits;
  if (!forced && trigger.kind === "below") return { kind: "none", reason: "below-trigger", tokens };
  if (!forced && trigger.kind === "waiting") return { kind: "none", reason: "waiting", tokens };

  const choose = input.cause === "manual" && fits ? gentlestCut : chooseCut;
  const cuts = boundaries(view, shape);
  const choice = choose({ weigher, limits, cuts, policy, window, least: input.summaryTokens ?? 0 });
  if (choice === null) {
    if (fits && input.cause !== "overflow") return { kind: "none", reason: "nothing-to-cut", tokens };
    return collapse(input, weigher, limits);
  }
  const reason = input.cause !== "automatic" ? input.cause : trigger.kind === "met" ? trigger.threshold : "window";
  return compactPlan(input, weigher, choice, reason);
}

function compactPlan<M>(input: PlanInput<M>, weigher: Weigher, choice: Choice, reason: CompactPlan["reason"]): Plan {
  const { cut, summary, entries, tokens } = choice;
  const hides = cut.index > weigher.first;
  if (!hides && entries.length === 0) return { kind: "none", reason: "nothing-to-cut", tokens: weigher.total };
  return {
    kind: "compact",
    rung: hides ? "hide" : "clamp",
    cut: hides ? makeCut(input, weigher, cut, { summary, digest: null }) : null,
    entries,
    reason,
    tokensBefore: weigher.total,
    tokensAfter: tokens,
    most: choice.most,
    reaches: choice.reaches,
  };
}

/** The last rung: everything is hidden, the request and a digest of the open calls stand for it. */
function collapse<M>(input: PlanInput<M>, weigher: Weigher, limits: Limits): Plan {
  const end: Boundary = { index: input.view.length, kind: "group" };
  const asked = weigher.request(end);
  const { entries, excess } = weigher.clamps(end, REQUEST_TOKENS);
  const request = asked < 0 ? 0 : weigher.after(end, REQUEST_TOKENS, 0).tokens + excess - weigher.base;
  const room = limits.fits - weigher.base - request;
  if (room < STUB_TOKENS) return { kind: "impossible", floor: floorOf(input, weigher, request) };
  const ample = Math.min(room, Math.max(STUB_TOKENS * 2, limits.goal - weigher.base - request));
  const summary = Math.max(STUB_TOKENS, Math.min(limits.maxSummary, Math.floor(ample / 2)));
  const digest = Math.max(0, ample - summary);
  return {
    kind: "compact",
    rung: "collapse",
    cut: makeCut(input, weigher, end, { summary, digest }),
    entries,
    reason: input.cause === "automatic" ? "window" : input.cause,
    tokensBefore: weigher.total,
    tokensAfter: weigher.base + request + summary + digest,
    most: limits.fits,
    reaches: "window",
  };
}

function makeCut<M>(
  { view, shape }: PlanInput<M>,
  weigher: Weigher,
  cut: Boundary,
  budget: { summary: number; digest: number | null },
): Cut {
  const hidden = view.slice(0, cut.index).filter(({ source }) => source === "message");
  const seqs = hidden.map((entry) => entry.seq ?? 0);
  const asked = weigher.request(cut);
  const systems = view
    .slice(0, cut.index)
    .filter(({ seq, message }) => seq !== null && shape.role(message) === "system");
  return {
    tail: cut.index,
    covers: [seqs[0] ?? 0, seqs.at(-1) ?? 0],
    hidden: hidden.length,
    kept: view.length - cut.index,
    hiddenTokens: weigher.hidden(cut.index),
    request: asked < 0 ? null : view[asked]!.seq,
    systems: systems.map(({ seq }) => seq!),
    summaryTokens: budget.summary,
    digestTokens: budget.digest,
  };
}

function floorOf<M>({ fixed, window }: PlanInput<M>, weigher: Weigher, request: number): Floor {
  const total = weigher.base + window.reserve + request + STUB_TOKENS;
  return {
    fixed,
    systems: weigher.base - fixed,
    reserve: window.reserve,
    request,
    summary: STUB_TOKENS,
    total,
    window: window.size,
  };
}
