/**
 * Which cut a compaction takes, and how far what stays is shortened: from the least to the most invasive, the first that
 * is good enough. A promise comes before the summary's length: the summary takes what keep leaves below the trigger, and
 * only where that is too little for any summary does keep give way. Sizes, never builds.
 */
import type { PruneEntry } from "../log/record.ts";
import type { Boundary } from "./cut.ts";
import type { CutSizes, Level } from "./cut-sizes.ts";
import { isCeilings, keepFrom, type Limits, type Policy, type Window } from "./policy.ts";

/**
 * The best goal that a plan meets: the low-water mark; below the trigger with all that keep promises; below it with less
 * than that; or only the window.
 */
export type PlanGoal = "low-water" | "keep" | "less" | "window";

export interface Choice {
  readonly cut: Boundary;
  readonly entries: readonly PruneEntry[];
  readonly tokens: number;
  readonly summary: number;
  readonly maxTokens: number;
  readonly goal: PlanGoal;
}

export interface Choices {
  readonly sizes: CutSizes;
  readonly limits: Limits;
  /** All valid cuts, in order. */
  readonly cuts: readonly Boundary[];
  readonly policy: Policy;
  readonly window: Window;
  /** Tokens a summary of this view is known to need; 0 before one was written. */
  readonly least: number;
}

/** No summary is shorter. */
export const STUB_TOKENS = 128;
/** A shorter summary says too little to be asked for. */
const USEFUL_TOKENS = 256;

/** Of what the trigger leaves to the conversation, what a summary may well take. */
const AMPLE_SHARE = 0.15;

/** Gentle first: whole parts, then ever shorter ones. */
const LEVELS: readonly Level[] = [Number.POSITIVE_INFINITY, 8000, 4000, 2000, 1000, 500, 250, 120];
const WHOLE: readonly Level[] = LEVELS.slice(0, 1);
const SHORTEST_WITH_ALL_KEPT = 1000;

/** A manual compaction: the cut that keep asks for, whatever it gains, as long as the summary can't overfill the window. */
export function gentlestCut(choices: Choices): Choice | null {
  const { sizes, limits } = choices;
  const cut = preferredCuts(choices).find(({ index }) => index > sizes.first);
  if (cut === undefined) return null;
  const round = { least: STUB_TOKENS, target: { tokens: limits.fits, messages: Number.POSITIVE_INFINITY } };
  const sized = sizeCut(cut, WHOLE[0]!, round, choices);
  if (sized === null) return null;
  const goal = sized.tokens <= limits.lowWater ? "low-water" : "keep";
  return { cut, entries: [], ...sized, maxTokens: limits.fits, goal };
}

/** The first choice that is good enough, from the least to the most invasive. */
export function chooseCut(choices: Choices): Choice | null {
  for (const round of rounds(choices)) {
    for (const level of round.levels) {
      for (const cut of round.cuts) {
        const choice = choiceOf(cut, level, round, choices);
        if (choice !== null) return choice;
      }
    }
  }
  return null;
}

interface Round {
  readonly cuts: readonly Boundary[];
  readonly levels: readonly Level[];
  readonly target: Target;
  /** How short a summary may be to reach the target. */
  readonly least: number;
  readonly goal: PlanGoal;
}

interface Target {
  readonly tokens: number;
  readonly messages: number;
}

function rounds(choices: Choices): readonly Round[] {
  const { sizes, limits, cuts, policy } = choices;
  const preferred = preferredCuts(choices);
  const nearest = preferred.toReversed();
  const onward = cuts.filter(({ index }) => index >= (preferred[0]?.index ?? sizes.first));
  const mild = LEVELS.filter((level) => level >= SHORTEST_WITH_ALL_KEPT);
  const under = (tokens: number, gains: number): Target => ({
    tokens,
    messages: limits.messages === null ? Number.POSITIVE_INFINITY : mostMessages(limits.messages, gains),
  });
  const roomy = Math.min(limits.trigger, limits.fits) - limits.minGain;
  const promise = !isCeilings(policy.keep);
  // What gives way does so by a little more than it must, or the next turn would ask again.
  const aim = promise ? Math.max(limits.lowWater, roomy - limits.minGain) : limits.lowWater;
  const broken: PlanGoal = promise ? "less" : "low-water";
  const ample = Math.max(USEFUL_TOKENS, Math.floor(AMPLE_SHARE * (limits.trigger - sizes.outside)));
  const promiseRounds: readonly Round[] = [
    { cuts: nearest, levels: WHOLE, target: under(roomy, 1), least: USEFUL_TOKENS, goal: "keep" },
    { cuts: nearest, levels: WHOLE, target: under(promisedMost(limits), 0), least: STUB_TOKENS, goal: "keep" },
  ];
  return [
    { cuts: preferred, levels: WHOLE, target: under(limits.lowWater, 1), least: ample, goal: "low-water" },
    { cuts: nearest, levels: WHOLE, target: under(roomy, 1), least: ample, goal: "keep" },
    ...(promise ? promiseRounds : []),
    { cuts: preferred, levels: mild, target: under(aim, 1), least: ample, goal: broken },
    { cuts: onward, levels: LEVELS, target: under(aim, 1), least: ample, goal: broken },
    { cuts: onward, levels: LEVELS, target: under(roomy, 1), least: ample, goal: promise ? "less" : "window" },
    { cuts: onward, levels: LEVELS, target: under(limits.fits, 0), least: ample, goal: "window" },
  ];
}

function mostMessages({ trigger, minGain }: { trigger: number; minGain: number }, gains: number): number {
  return trigger - Math.max(1, gains * minGain);
}

/** A promise holds below the trigger; a request that soon won't fit would ask for a summary before every call. */
function promisedMost({ trigger, fits, minGain }: Limits): number {
  return Math.min(trigger - 1, fits - minGain);
}

function choiceOf(cut: Boundary, level: Level, round: Round, choices: Choices): Choice | null {
  const { sizes, limits, policy } = choices;
  const sized = sizeCut(cut, level, round, choices);
  if (sized === null || sized.tokens >= sizes.total) return null;
  const { entries, excess } = sizes.clamps(cut, level);
  const tokens = sized.tokens + excess;
  if (excess > 0 && tokens > round.target.tokens) return null;
  const promised = !isCeilings(policy.keep) && round.goal === "keep";
  const maxTokens = promised ? promisedMost(limits) : limits.fits;
  return { cut, entries, tokens, summary: sized.summary, maxTokens, goal: round.goal };
}

/** Null: not within the target. The summary is given what the target leaves, where it may be short, but what is useful. */
function sizeCut(
  cut: Boundary,
  level: Level,
  { target, least }: Pick<Round, "target" | "least">,
  { sizes, limits, least: known }: Choices,
): { readonly tokens: number; readonly summary: number } | null {
  const full = summaryBudget(sizes, cut, limits);
  const rest = sizes.after(cut, level, 0);
  const smallest = rest.tokens + Math.max(known, Math.min(full, least));
  if (smallest > target.tokens || rest.messages > target.messages) return null;
  const room = Math.max(target.tokens - rest.tokens, Math.min(USEFUL_TOKENS, limits.fits - rest.tokens));
  const summary = Math.min(full, room);
  return { tokens: rest.tokens + summary, summary };
}

/**
 * The cuts that honor keep, best first. A promise moves outward (more stays), to a user turn or else to a tool group
 * inside the turn; ceilings move inward (less stays), to a user turn or else to a group.
 */
function preferredCuts({ sizes, cuts, policy, window }: Choices): readonly Boundary[] {
  const { keep } = policy;
  const wanted = sizes.first + keepFrom(sizes.entries.slice(sizes.first), keep, window);
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
function summaryBudget(sizes: CutSizes, cut: Boundary, limits: Limits): number {
  if (cut.index <= sizes.first) return 0;
  // A request that stands verbatim is hidden, but nothing needs to replace it.
  const replaced = sizes.total - sizes.after(cut, Number.POSITIVE_INFINITY, 0).tokens;
  return Math.max(STUB_TOKENS, Math.min(limits.maxSummary, Math.floor((replaced * 2) / 3)));
}
