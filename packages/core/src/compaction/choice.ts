/**
 * Which cut a compaction takes, and how far what stays is shortened: from the least to the most invasive, the first that
 * is good enough. A promise comes before the summary's length: the summary takes what keep leaves below the trigger, and
 * only where that is too little for any summary does keep give way. Sizes, never builds.
 */

import type { PruneEntry } from "../log/record.ts";
import { STUB_TOKENS } from "./clamp.ts";
import { type Boundary, type CutSizes, type Level, makeCut } from "./cut.ts";
import type { CompactPlan, Plan, PlanInput } from "./plan.ts";
import { isCeilings, isPromise, keepFrom, type Limits, type Policy, type Window } from "./policy.ts";

/**
 * The best goal that a plan meets: the low-water mark; below the trigger with all that keep promises; below it with less
 * than that; or only the window.
 */
export type PlanGoal = "low-water" | "keep" | "less" | "window";

interface Choice {
  readonly cut: Boundary;
  readonly entries: readonly PruneEntry[];
  readonly tokens: number;
  readonly summary: number;
  /** For quotes of what the model wrote, beside the summary. */
  readonly quotes: number;
  readonly maxTokens: number;
  readonly goal: PlanGoal;
}

interface Choices {
  readonly sizes: CutSizes;
  readonly limits: Limits;
  /** All valid cuts, in order. */
  readonly cuts: readonly Boundary[];
  readonly policy: Policy;
  readonly window: Window;
  /** Tokens a summary of this view is known to need; 0 before one was written. */
  readonly least: number;
}

/** What may be shortened in the messages that stay. Only where the window asks for it: what the model hasn't seen yet. */
type Shorten = "all" | "seen" | "nothing";

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
  const { sizes, limits, policy } = choices;
  if (policy.keep === null) return fullestCut(choices);
  const cut = preferredCuts(choices).find(({ index }) => index > sizes.first);
  if (cut === undefined) return null;
  const round = { least: STUB_TOKENS, target: { tokens: limits.fits, messages: Number.POSITIVE_INFINITY } };
  const sized = sizeCut(cut, WHOLE[0]!, round, choices);
  if (sized === null) return null;
  const goal = sized.tokens <= limits.lowWater ? "low-water" : "keep";
  return { cut, entries: [], ...sized, maxTokens: limits.fits, goal };
}

export type NoCut = "nothing-to-cut" | "no-shrink";

/** Why no choice is good enough: keep leaves nothing to hide, or what it leaves is shorter than any summary. */
export function whyNone(choices: Choices): NoCut {
  return preferredCuts(choices).some(({ index }) => index > choices.sizes.first) ? "no-shrink" : "nothing-to-cut";
}

/**
 * The first choice that is good enough, from the least to the most invasive. Where keep was said, a trigger that can't be
 * met otherwise also shortens what the model hasn't seen.
 */
export function chooseCut(choices: Choices, shorten: Shorten): Choice | null {
  const fullest = choices.policy.keep === null ? fullestCut(choices) : null;
  if (fullest !== null) return fullest;
  if (shorten === "nothing") return firstChoice(choices, shorten);
  const gentle = firstChoice(choices, "seen");
  return gentle === null && (shorten === "all" || choices.policy.keep !== null) ? firstChoice(choices, "all") : gentle;
}

function firstChoice(choices: Choices, shorten: Shorten): Choice | null {
  for (const round of rounds(choices, shorten)) {
    for (const level of levelsOf(round, choices, shorten)) {
      for (const cut of round.cuts) {
        const choice = choiceOf(cut, level, round, choices);
        if (choice !== null) return choice;
      }
    }
  }
  return null;
}

function levelsOf({ levels }: Round, { sizes }: Choices, shorten: Shorten): readonly Level[] {
  if (shorten === "all") return levels;
  if (shorten === "nothing") return WHOLE;
  return [...new Set(levels.map((level) => Math.max(level, sizes.unseen)))];
}

/** Of what fits under the low-water mark, what whole turns must fill, or the tail begins inside a turn. */
const WHOLE_TURNS = 0.8;

/** Without a `keep`: the longest tail that fits under the low-water mark with its summary; null if none does. */
function fullestCut(choices: Choices): Choice | null {
  const { sizes, limits } = choices;
  const under = (tokens: number) => ({
    least: limits.maxSummary,
    target: { tokens, messages: messagesUnder(limits, 1) },
  });
  const round = under(limits.lowWater);
  const cuts = choices.cuts.filter(({ index }) => index > sizes.first);
  const at = cuts.findIndex((cut) => sizeCut(cut, WHOLE[0]!, round, choices) !== null);
  if (at < 0) return shortestTail(choices, under(roomyTokens(limits)));
  const tail = (cut: Boundary): number => sizes.after(cut, WHOLE[0]!, 0).tokens - sizes.base;
  const turn = cuts.slice(at).find(({ kind }) => kind !== "group");
  const cut = turn !== undefined && tail(turn) >= WHOLE_TURNS * tail(cuts[at]!) ? turn : cuts[at]!;
  const sized = sizeCut(cut, WHOLE[0]!, round, choices);
  if (sized === null || sized.tokens >= sizes.total) return null;
  return { cut, entries: [], ...sized, maxTokens: limits.fits, goal: "low-water" };
}

/** One long message at the end: it stays, and so do summary and quotes, as long as there is room for the next turn. */
function shortestTail(choices: Choices, round: Pick<Round, "target" | "least">): Choice | null {
  const { sizes, limits, cuts } = choices;
  const cut = cuts.findLast(({ kind, index }) => kind !== "end" && index > sizes.first);
  const sized = cut === undefined ? null : sizeCut(cut, WHOLE[0]!, round, choices);
  if (cut === undefined || sized === null || sized.tokens >= sizes.total) return null;
  return { cut, entries: [], ...sized, maxTokens: limits.fits, goal: "keep" };
}

function roomyTokens({ trigger, fits, minGain }: Limits): number {
  return Math.min(trigger, fits) - minGain;
}

function messagesUnder({ messages }: Limits, gains: number): number {
  return messages === null ? Number.POSITIVE_INFINITY : mostMessages(messages, gains);
}

interface Round {
  readonly cuts: readonly Boundary[];
  readonly levels: readonly Level[];
  readonly target: TokenTarget;
  /** How short a summary may be to reach the target. */
  readonly least: number;
  readonly goal: PlanGoal;
}

interface TokenTarget {
  readonly tokens: number;
  readonly messages: number;
  /** Whether there must also be room for quotes; `whole` unless told. */
  readonly quotes?: "whole" | "what-is-left";
}

function rounds(choices: Choices, shorten: Shorten): readonly Round[] {
  const { sizes, limits, cuts, policy } = choices;
  const preferred = preferredCuts(choices);
  const nearest = preferred.toReversed();
  const onward = cuts.filter(({ index }) => index >= (preferred[0]?.index ?? sizes.first));
  const mild = LEVELS.filter((level) => level >= SHORTEST_WITH_ALL_KEPT);
  // What is being worked on is shortened for a summary, not for quotes.
  const reserved = shorten === "all" ? "what-is-left" : "whole";
  const under = (tokens: number, gains: number, quotes: TokenTarget["quotes"] = reserved): TokenTarget => ({
    tokens,
    messages: messagesUnder(limits, gains),
    quotes,
  });
  const roomy = roomyTokens(limits);
  const promise = isPromise(policy.keep);
  // What gives way does so by a little more than it must, or the next turn would ask again. Without a keep all that stays
  // is what is being worked on, of which as much is shown as leaves room for the next turn.
  const wanted = promise ? roomy - limits.minGain : policy.keep === null ? roomy : 0;
  const aim = Math.max(limits.lowWater, wanted);
  const broken: PlanGoal = promise ? "less" : "low-water";
  const ample = Math.max(USEFUL_TOKENS, Math.floor(AMPLE_SHARE * (limits.trigger - sizes.outside)));
  const promiseRounds: readonly Round[] = [
    { cuts: nearest, levels: WHOLE, target: under(roomy, 1), least: USEFUL_TOKENS, goal: "keep" },
    { cuts: nearest, levels: WHOLE, target: under(promisedMost(limits), 0), least: STUB_TOKENS, goal: "keep" },
  ];
  // Where keep was said, what the model hasn't seen is whole as far as it fits below the trigger, else below the window.
  const windowRounds: readonly Round[] = [
    { cuts: onward, levels: LEVELS, target: under(limits.fits, 0), least: ample, goal: "window" },
    { cuts: onward, levels: WHOLE, target: under(limits.fits, 0, "what-is-left"), least: STUB_TOKENS, goal: "window" },
  ];
  return [
    { cuts: preferred, levels: WHOLE, target: under(limits.lowWater, 1), least: ample, goal: "low-water" },
    { cuts: nearest, levels: WHOLE, target: under(roomy, 1), least: ample, goal: "keep" },
    ...(promise ? promiseRounds : []),
    { cuts: preferred, levels: mild, target: under(aim, 1), least: ample, goal: broken },
    { cuts: onward, levels: LEVELS, target: under(aim, 1), least: ample, goal: broken },
    { cuts: onward, levels: LEVELS, target: under(roomy, 1), least: ample, goal: promise ? "less" : "window" },
    {
      cuts: onward,
      levels: WHOLE,
      target: under(promisedMost(limits), 0, "what-is-left"),
      least: STUB_TOKENS,
      goal: promise ? "less" : "window",
    },
    ...(policy.keep === null || shorten === "all" ? windowRounds : []),
  ];
}

function mostMessages({ trigger, minGain }: { trigger: number; minGain: number }, gains: number): number {
  return trigger - Math.max(1, gains * minGain);
}

/** A promise holds below the trigger; a request that soon won't fit would ask for a summary before every call. */
function promisedMost({ trigger, fits, minGain }: Limits): number {
  return Math.min(trigger - 1, fits - minGain);
}

function choiceOf(cut: Boundary, least: Level, round: Round, choices: Choices): Choice | null {
  if (sizeCut(cut, least, round, choices) === null) return null;
  const most = fullestLevel(cut, least, round, choices);
  return choiceAt(cut, most, round, choices) ?? (most > least ? choiceAt(cut, least, round, choices) : null);
}

/** From this level to the gentler one before it, the one that keeps most of the long parts and meets the target. */
function fullestLevel(cut: Boundary, least: Level, round: Round, choices: Choices): Level {
  if (least === WHOLE[0]) return least;
  let low = least;
  let high = Math.min(LEVELS.findLast((level) => level > least)!, choices.sizes.total);
  while (high - low > Math.max(1, low / LEVEL_STEPS)) {
    const level = Math.floor((low + high) / 2);
    if (sizeCut(cut, level, round, choices) === null) high = level;
    else low = level;
  }
  return low;
}

const LEVEL_STEPS = 64;

function choiceAt(cut: Boundary, level: Level, round: Round, choices: Choices): Choice | null {
  const { sizes, limits, policy } = choices;
  const sized = sizeCut(cut, level, round, choices);
  if (sized === null || sized.tokens >= sizes.total) return null;
  const { entries, excess } = sizes.clamps(cut, level);
  const tokens = sized.tokens + excess;
  if (excess > 0 && tokens > round.target.tokens) return null;
  const promised = isPromise(policy.keep) && round.goal === "keep";
  const belowTrigger = promised || (policy.keep !== null && round.target.tokens === promisedMost(limits));
  const maxTokens = belowTrigger ? promisedMost(limits) : limits.fits;
  return { ...sized, cut, entries, tokens, maxTokens, goal: round.goal };
}

/** Null: not within the target. The summary is given what the target leaves, where it may be short, but what is useful. */
function sizeCut(
  cut: Boundary,
  level: Level,
  { target, least }: Pick<Round, "target" | "least">,
  { sizes, limits, least: known, policy }: Choices,
): Pick<Choice, "tokens" | "summary" | "quotes"> | null {
  const full = summaryBudget(sizes, cut, limits);
  const rest = sizes.after(cut, level, 0);
  const wanted = Math.min(limits.maxQuotes, sizes.quotes(cut));
  // Where keep was said, quotes take only what it leaves.
  const reservesQuotes = policy.keep === null && target.quotes !== "what-is-left";
  const reserved = Math.min(full, least) + (reservesQuotes ? wanted : 0);
  const smallest = rest.tokens + Math.max(known, reserved);
  if (smallest > target.tokens || rest.messages > target.messages) return null;
  const room = Math.max(target.tokens - rest.tokens, Math.min(USEFUL_TOKENS, limits.fits - rest.tokens));
  const summary = Math.min(full, room);
  // There they also must not make up for what is hidden, or a cut that keeps the promise gains nothing.
  const most =
    policy.keep === null ? target.tokens : Math.min(target.tokens, limits.lowWater, rest.tokens + gaining(sizes, cut));
  const left = most - rest.tokens - summary;
  const quotes = Math.max(0, Math.min(wanted, left));
  return { tokens: rest.tokens + summary + quotes, summary, quotes };
}

/**
 * The cuts that honor keep, best first. A promise moves outward (more stays), to a user turn or else to a tool group
 * inside the turn; ceilings move inward (less stays), to a user turn or else to a group.
 */
function preferredCuts({ sizes, cuts, policy, window }: Choices): readonly Boundary[] {
  const { keep } = policy;
  if (keep === null) return cuts.slice(-1);
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
  return Math.max(STUB_TOKENS, Math.min(limits.maxSummary, gaining(sizes, cut)));
}

/** What may stand for the hidden part so that hiding it still gains a third of it. */
function gaining(sizes: CutSizes, cut: Boundary): number {
  // A request that stands verbatim is hidden, but nothing needs to replace it.
  const replaced = sizes.total - sizes.after(cut, Number.POSITIVE_INFINITY, 0).tokens;
  return Math.floor((replaced * 2) / 3);
}

type TailCutRequest = Pick<Choices, "policy" | "sizes" | "limits">;

/** Who asks for a compaction of what is below the mark already wants it smaller still: half of it at most. */
export function asked(cause: "automatic" | "manual" | "overflow", { policy, sizes, limits }: TailCutRequest) {
  const { total, outside } = sizes;
  if (policy.keep !== null || cause !== "manual" || total > limits.lowWater) return { policy, limits };
  const quarter = Math.floor((total - outside) / 4);
  const maxSummary = Math.min(limits.maxSummary, quarter);
  return {
    policy: { ...policy, keep: SMALL_TAIL },
    limits: { ...limits, maxSummary, maxQuotes: Math.min(limits.maxQuotes, quarter - maxSummary) },
  };
}

const SMALL_TAIL: Policy["keep"] = [
  { type: "messages", value: 6 },
  { type: "fraction", value: 0.25 },
];

/* A choice of a cut as the plan that carries it out. */

export function compactPlan<M>(
  input: PlanInput<M>,
  sizes: CutSizes,
  choice: Choice,
  reason: CompactPlan["reason"],
): Plan {
  const { cut, summary, quotes, entries, tokens } = choice;
  const hides = cut.index > sizes.first;
  if (!hides && entries.length === 0) return { kind: "none", reason: "nothing-to-cut", tokens: sizes.total };
  return {
    kind: "compact",
    rung: hides ? "hide" : "clamp",
    cut: hides ? makeCut(input.prompt, sizes, cut, { summary, quotes, digest: null }) : null,
    entries,
    reason,
    tokensBefore: sizes.total,
    tokensAfter: tokens,
    maxTokens: choice.maxTokens,
    goal: choice.goal,
  };
}
