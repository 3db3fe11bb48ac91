/**
 * What each constant of the ranking gains on each set, and whether constants chosen on some sets hold on another one. Pure: the
 * caller measures and prints.
 */
import { RANKING, type RankOptions } from "../../packages/core/src/recall/rank.ts";
import { type Figure, meanOf, type Score } from "../../packages/lab/src/eval/search-figures.ts";

export interface Trial {
  readonly setting: Partial<RankOptions>;
  readonly scores: readonly Score[];
}

/** Constants are judged by these: the head of the list, and about what 2,000 and 4,000 tokens show. */
const JUDGED = ["first10", "first50", "first100"] as const;

/** Each signal without its effect, the others as they are. */
export const SWITCHED_OFF: readonly Partial<RankOptions>[] = [
  { b: 0 },
  { wholeShare: 0 },
  { neighborWeights: RANKING.neighborWeights.map(() => 0) },
  { answerWeight: 0 },
  { scoreOfPrevious: 0 },
  { scoreOfNext: 0 },
  { exchangeShare: 0 },
  { userGain: 0 },
  { askedUserGain: RANKING.userGain },
  { userWhereAssistantIsAsked: 1 },
  { standing: 1 },
  { asking: 1 },
  { namedSpeaker: 1 },
  { namedTime: 1 },
  { statedDate: 0 },
  { rareIdentifier: 0 },
];

/** Each constant as it is and on either side of it, the others as they are. */
export const AROUND: readonly Partial<RankOptions>[] = [
  {},
  ...[0.6, 1.2].map((k1) => ({ k1 })),
  ...[0.1, 0.4].map((b) => ({ b })),
  ...[0.3, 1].map((wholeShare) => ({ wholeShare })),
  ...[0.3, 1].map((answerWeight) => ({ answerWeight })),
  ...[0.15, 0.45].map((scoreOfPrevious) => ({ scoreOfPrevious })),
  ...[0.25, 0.55].map((scoreOfNext) => ({ scoreOfNext })),
  ...[20, 60].map((firstHits) => ({ firstHits })),
  ...[0.25, 0.75].map((exchangeShare) => ({ exchangeShare })),
  ...[0.3, 1].map((userGain) => ({ userGain })),
  ...[1, 2].map((askedUserGain) => ({ askedUserGain })),
  ...[0.6, 1].map((userWhereAssistantIsAsked) => ({ userWhereAssistantIsAsked })),
  ...[1.25, 1.75].map((standing) => ({ standing })),
  ...[0.8, 0.95].map((asking) => ({ asking })),
  ...[1.1, 1.35].map((namedSpeaker) => ({ namedSpeaker })),
  ...[1.15, 1.5].map((namedTime) => ({ namedTime })),
  ...[0.1, 0.5].map((statedDate) => ({ statedDate })),
];

export interface Gain {
  readonly setting: Partial<RankOptions>;
  readonly set: string;
  /** By figure: what the constant as it is gains over the setting, question by question. */
  readonly gains: Readonly<Record<string, Figure>>;
}

export function gainsOver(own: readonly Score[], trials: readonly Trial[]): Gain[] {
  return trials.flatMap(({ setting, scores }) =>
    setsOf(own).map((set) => {
      const pairs = own.flatMap((score, at) => (score.set === set ? [[score, scores[at]!] as const] : []));
      const gain = (name: string): Figure => meanOf(pairs.map(([a, b]) => a.figures[name]! - b.figures[name]!));
      return { setting, set, gains: Object.fromEntries(JUDGED.map((name) => [name, gain(name)])) };
    }),
  );
}

export interface Fold {
  /** The sets that had no say in the choice. */
  readonly left: readonly string[];
  /** Best on all others. */
  readonly setting: Partial<RankOptions>;
  readonly figures: Readonly<Record<string, number>>;
  /** The same with the constants as they are. */
  readonly asTheyAre: Readonly<Record<string, number>>;
}

/** Each set left out once, and those of one source together. */
export function leaveOneSetOut(trials: readonly Trial[]): Fold[] {
  const sets = setsOf(trials[0]!.scores);
  const sources = [...Map.groupBy(sets, sourceOf).values()];
  const folds = [...sets.map((set) => [set]), ...sources.filter((source) => source.length > 1)];
  if (sources.length < 2) return [];
  const current = trials.find(({ setting }) => Object.keys(setting).length === 0)!;
  return folds.map((left) => {
    const others = sets.filter((set) => !left.includes(set));
    const merit = ({ scores }: Trial): number => sum(Object.values(figuresOf(scores, others)));
    const best = trials.reduce((a, b) => (merit(b) > merit(a) ? b : a));
    return {
      left,
      setting: best.setting,
      figures: figuresOf(best.scores, left),
      asTheyAre: figuresOf(current.scores, left),
    };
  });
}

/** Every set counts the same, however many questions it has. */
function figuresOf(scores: readonly Score[], sets: readonly string[]): Record<string, number> {
  const meanIn = (set: string, name: string): number => {
    const values = scores.filter((score) => score.set === set).map(({ figures }) => figures[name]!);
    return sum(values) / values.length;
  };
  return Object.fromEntries(JUDGED.map((name) => [name, sum(sets.map((set) => meanIn(set, name))) / sets.length]));
}

/** `BEAM 100K` and `BEAM 500K` are of one source. */
function sourceOf(set: string): string {
  return /^\w+/.exec(set)![0];
}

function setsOf(scores: readonly Score[]): string[] {
  return [...new Set(scores.map(({ set }) => set))];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
