/** Scores of single questions, and what is said of many: means and intervals. Pure: it reads no file and prints nothing. */
import { analyze } from "@palimpsest/core/internal/text";
import type { SearchedMessage, SearchedThread, SearchQuestion } from "./question-data.ts";
import { seeded } from "./random.ts";
import type { SubjectAsker } from "./search-subjects.ts";

const RANKS = [1, 5, 10, 20, 50, 100] as const;
const BUDGETS = [1_000, 2_000, 4_000] as const;
const ROUNDS = 1_000;

export interface Score {
  readonly set: string;
  readonly kind: string;
  /** By the name of the figure: a share of the question's evidence. */
  readonly figures: Readonly<Record<string, number>>;
}

export interface MeasureOptions {
  readonly count: (text: string) => number;
  /** In tokens; 1,000, 2,000 and 4,000 unless told. */
  readonly budgets?: readonly number[];
}

export async function measure(
  threads: readonly SearchedThread[],
  build: (thread: SearchedThread) => Promise<SubjectAsker>,
  { count, budgets = BUDGETS }: MeasureOptions,
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const thread of threads) {
    const ask = await build(thread);
    for (const question of thread.questions) {
      const { ranked, show } = await ask(question.text, question.before);
      const figures: Record<string, number> = {};
      for (const rank of RANKS) figures[`first${rank}`] = share(question, new Set(ranked.slice(0, rank)));
      for (const tokens of budgets) {
        const lines = linesBySeq(await show(tokens, count));
        figures[`in${tokens}`] = share(question, lines);
        if (question.answer === null && question.expected === undefined) continue;
        const telling = [...lines].filter(([seq, line]) => tells(question, thread.turns[seq - 1]!, line));
        figures[`strict${tokens}`] = share(question, new Map(telling));
      }
      scores.push({ set: thread.set, kind: question.kind, figures });
    }
  }
  return scores;
}

/** The lines of the shown text that begin with a message's number; a message may have several. */
function linesBySeq(text: string): Map<number, string> {
  const lines = new Map<number, string>();
  for (const line of text.split("\n")) {
    const seq = Number(/^(\d+) /.exec(line)?.[1] ?? Number.NaN);
    if (!Number.isNaN(seq)) lines.set(seq, `${lines.get(seq) ?? ""} ${line}`);
  }
  return lines;
}

function share({ evidence }: SearchQuestion, found: { has(seq: number): boolean }): number {
  return evidence.filter((seq) => found.has(seq)).length / evidence.length;
}

function tells({ answer, expected }: SearchQuestion, { text }: SearchedMessage, line: string): boolean {
  if (expected !== undefined) return line.includes(expected);
  const own = wordsOf(text);
  const wanted = [...wordsOf(answer ?? "")].filter((term) => own.has(term));
  const shown = wordsOf(line);
  return wanted.filter((term) => shown.has(term)).length >= wanted.length / 2;
}

function wordsOf(text: string): Set<string> {
  return new Set(analyze(text).flatMap(({ term, kind }) => (kind === "part" ? [] : [term])));
}

/** A mean with its 95 % interval; shares of 1. */
export interface Figure {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface Summary {
  readonly set: string;
  /** Null for all kinds together. */
  readonly kind: string | null;
  readonly questions: number;
  readonly figures: Readonly<Record<string, Figure>>;
}

/** One for each set, then one for each kind of question in it. */
export function summaries(scores: readonly Score[]): Summary[] {
  return [...Map.groupBy(scores, ({ set }) => set).values()].flatMap((own) => [
    summary(own, null),
    ...[...Map.groupBy(own, ({ kind }) => kind)].map(([kind, ofKind]) => summary(ofKind, kind)),
  ]);
}

function summary(scores: readonly Score[], kind: string | null): Summary {
  const { set, figures } = scores[0]!;
  const figure = (name: string): Figure => meanOf(scores.map((score) => score.figures[name]!));
  return {
    set,
    kind,
    questions: scores.length,
    figures: Object.fromEntries(Object.keys(figures).map((name) => [name, figure(name)])),
  };
}

/** With an interval by drawing as many values again, with repeats. */
export function meanOf(values: readonly number[]): Figure {
  const random = seeded(22);
  const means = Array.from({ length: ROUNDS }, () => {
    let sum = 0;
    for (let at = 0; at < values.length; at += 1) sum += values[Math.floor(random.next() * values.length)]!;
    return sum / values.length;
  }).sort((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return { mean, low: means[Math.floor(0.025 * ROUNDS)]!, high: means[Math.floor(0.975 * ROUNDS)]! };
}
