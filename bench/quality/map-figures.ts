/**
 * What the map of a thread shows for questions that ask for an order or a summary: how much of their evidence stands in the ranges
 * it lists, and how much of the thread those ranges cover, by which the first figure must be read. Pure.
 */
import { search } from "@palimpsest/core/internal/recall";
import { COURSE_SEARCH, mapText } from "../../packages/core/src/recall/render.ts";
import { createThreadMap } from "../../packages/core/src/recall/thread-map.ts";
import type { SearchedThread } from "../../packages/lab/src/eval/question-data.ts";
import { indexOf } from "../../packages/lab/src/eval/search-subjects.ts";

export interface MapFigure {
  readonly set: string;
  readonly kind: string;
  readonly tokens: number;
  readonly questions: number;
  /** Shares of 1. */
  readonly evidence: number;
  readonly cover: number;
}

const KINDS: ReadonlySet<string> = new Set(["event_ordering", "summarization"]);
const BUDGETS = [1_000, 2_000, 4_000] as const;

export async function measureMaps(
  threads: readonly SearchedThread[],
  count: (text: string) => number,
): Promise<MapFigure[]> {
  const scores: Omit<MapFigure, "questions">[] = [];
  for (const thread of threads) {
    const { set, turns, questions } = thread;
    const map = createThreadMap();
    for (const { seq, speaker, at, text } of turns) map.add({ seq, role: speaker, at, words: text });
    for (const { kind, text, evidence } of questions.filter((question) => KINDS.has(question.kind))) {
      const scope = { kind: "thread", threadId: "thread" } as const;
      const result = await search(indexOf(thread), scope, text, COURSE_SEARCH);
      const hits = result.kind === "found" ? result.hits : [];
      const found = new Map(hits.map(({ doc, score }) => [doc.seq, score]));
      for (const tokens of BUDGETS) {
        const { shown } = mapText(map.lines(), { tokens, count, scores: found });
        const isListed = (seq: number): boolean => shown.some(({ from, to }) => from <= seq && seq <= to);
        const listed = turns.filter(({ seq }) => isListed(seq)).length;
        const share = evidence.filter(isListed).length / evidence.length;
        scores.push({ set, kind, tokens, evidence: share, cover: listed / turns.length });
      }
    }
  }
  return [...Map.groupBy(scores, ({ set, kind, tokens }) => `${set} ${kind} ${tokens}`).values()].map((own) => {
    const mean = (of: (one: (typeof own)[number]) => number): number =>
      own.reduce((sum, one) => sum + of(one), 0) / own.length;
    return {
      ...own[0]!,
      questions: own.length,
      evidence: mean((one) => one.evidence),
      cover: mean((one) => one.cover),
    };
  });
}
