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
import type { Measure } from "./clamp.ts";
import { keepFrom } from "./keep.ts";
import { isCeilings, type Limits, limitsOf, type Policy, type Threshold, type Window } from "./policy.ts";
import { type PruneRung, planPruning } from "./prune/rung.ts";
import { type Level, type Weigher, weigh } from "./tail.ts";
import { checkTrigger } from "./trigger.ts";

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
  /** Tokens said since the last attempt; null when there was none. */
  readonly grown: number | null;
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
  /** How far it gets: to the low-water mark, or only below the trigger (keep is a promise), or only into the window. */
  readonly reaches: "low-water" | "keep" | "window";
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

const STUB_TOKENS = 128;
const REQUEST_TOKENS = 256;

/** Gentle first: whole parts, then ever shorter ones. */
const LEVELS: readonly Level[] = [Number.POSITIVE_INFINITY, 8000, 4000, 2000, 1000, 500, 250, 120];
const SHORTEST_WITH_ALL_KEPT = 1000;

export function planCompaction<M>(input: PlanInput<M>): Plan {
  const limits = limitsOf(input.policy, input.window);
  const weigher = weigh({ ...input, format: input.policy.summaryFormat });
  const plan = planHiding(input, weigher, limits);
  return planPruning(input, weigher, limits, plan) ?? plan;
}

function planHiding<M>(input: PlanInput<M>, weigher: Weigher, limits: Limits): Plan {
  const { policy, window, view, shape } = input;
  const tokens = weigher.total;
  const fits = tokens <= limits.fits;
  const trigger = checkTrigger(policy, { tokens, messages: weigher.messages }, window);
  const forced = input.cause !== "automatic" || !fits;
  if (!forced && !trigger.met) return { kind: "none", reason: "below-trigger", tokens };
  if (!forced && input.grown !== null && input.grown < limits.minGain)
    return { kind: "none", reason: "waiting", tokens };

  const cuts = boundaries(view, shape);
  const found =
    input.cause === "manual" && fits ? gentlest(input, weigher, limits, cuts) : climb(input, weigher, limits, cuts);
  if (found === null) {
    if (fits && input.cause !== "overflow") return { kind: "none", reason: "nothing-to-cut", tokens };
    return collapse(input, weigher, limits);
  }
  const reason = input.cause !== "automatic" ? input.cause : trigger.met ? trigger.threshold : "window";
  return compactPlan(input, weigher, found, reason);
}

interface Choice {
  readonly cut: Boundary;
  readonly entries: readonly PruneEntry[];
  readonly tokens: number;
  readonly summary: number;
  readonly reaches: CompactPlan["reaches"];
}

/** A manual compaction: the cut that keep asks for, whatever it gains, as long as the summary can't overfill the window. */
function gentlest<M>(input: PlanInput<M>, weigher: Weigher, limits: Limits, cuts: readonly Boundary[]): Choice | null {
  const cut = preferredCuts(input, weigher, cuts).find(({ index }) => index > weigher.first);
  if (cut === undefined) return null;
  const summary = summaryBudget(weigher, cut, limits);
  const { tokens } = weigher.after(cut, Number.POSITIVE_INFINITY, summary);
  if (tokens > limits.fits) return null;
  return { cut, entries: [], tokens, summary, reaches: tokens <= limits.goal ? "low-water" : "keep" };
}

/** The first choice that is good enough, from the least to the most invasive. */
function climb<M>(input: PlanInput<M>, weigher: Weigher, limits: Limits, cuts: readonly Boundary[]): Choice | null {
  const preferred = preferredCuts(input, weigher, cuts);
  const start = preferred[0]?.index ?? weigher.first;
  const onward = cuts.filter(({ index }) => index >= start);
  const whole: readonly Level[] = [Number.POSITIVE_INFINITY];
  const mild = LEVELS.filter((level) => level >= SHORTEST_WITH_ALL_KEPT);
  const roomy = Math.min(limits.trigger - 1, limits.fits - limits.minGain);
  const messages = limits.messages === null ? Number.POSITIVE_INFINITY : limits.messages.trigger - 1;
  const low = { tokens: limits.goal, messages };
  const rounds: readonly Round[] = [
    { cuts: preferred, levels: whole, target: low, reaches: "low-water" },
    { cuts: preferred.toReversed(), levels: whole, target: { ...low, tokens: roomy }, reaches: "keep" },
    { cuts: preferred, levels: mild, target: low, reaches: "low-water" },
    { cuts: onward, levels: LEVELS, target: low, reaches: "low-water" },
    { cuts: onward, levels: LEVELS, target: { ...low, tokens: roomy }, reaches: "window" },
    { cuts: onward, levels: LEVELS, target: { ...low, tokens: limits.fits }, reaches: "window" },
  ];
  for (const round of rounds) {
    const choice = firstWithin(round, weigher, limits);
    if (choice !== null) return choice;
  }
  return null;
}

interface Round {
  readonly cuts: readonly Boundary[];
  readonly levels: readonly Level[];
  readonly target: { readonly tokens: number; readonly messages: number };
  readonly reaches: CompactPlan["reaches"];
}

function firstWithin({ cuts, levels, target, reaches }: Round, weigher: Weigher, limits: Limits): Choice | null {
  for (const level of levels) {
    for (const cut of cuts) {
      const summary = summaryBudget(weigher, cut, limits);
      const after = weigher.after(cut, level, summary);
      if (after.tokens > target.tokens || after.messages > target.messages) continue;
      if (after.tokens >= weigher.total && after.messages >= weigher.messages) continue;
      const { entries, excess } = weigher.clamps(cut, level);
      const tokens = after.tokens + excess;
      if (tokens <= target.tokens) return { cut, entries, tokens, summary, reaches };
    }
  }
  return null;
}

/**
 * The cuts that honour keep, best first. A promise moves outward (more stays), to a user turn or else to a tool group
 * inside the turn; ceilings move inward (less stays), to a user turn or else to a group.
 */
function preferredCuts<M>(input: PlanInput<M>, weigher: Weigher, cuts: readonly Boundary[]): readonly Boundary[] {
  const { keep } = input.policy;
  const wanted = weigher.first + keepFrom(weigher.sizes.slice(weigher.first), keep, input.window);
  if (isCeilings(keep)) {
    const inward = cuts.filter(({ index }) => index >= wanted);
    const cut = inward.find(({ kind }) => kind !== "group") ?? inward[0] ?? cuts.at(-1);
    return cut === undefined ? [] : [cut];
  }
  const outward = cuts.filter(({ index }) => index <= wanted);
  const turn = outward.findLast(({ kind }) => kind !== "group");
  const group = outward.at(-1);
  return [...(turn === undefined ? [] : [turn]), ...(group === undefined || group === turn ? [] : [group])];
}

/** Never more than two thirds of what it replaces, but no summary is shorter than its stub. */
function summaryBudget(weigher: Weigher, cut: Boundary, limits: Limits): number {
  if (cut.index <= weigher.first) return 0;
  const hidden = weigher.hidden(cut.index);
  return Math.max(STUB_TOKENS, Math.min(limits.maxSummary, Math.floor((hidden * 2) / 3)));
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
