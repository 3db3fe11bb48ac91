/**
 * An embedder of known quality in place of a real one, which can't be asked here: `quality` is the chance that a message of the evidence is
 * nearer to its question than one that isn't; 0.5 knows nothing. The same on every machine.
 */
import type { IndexedDoc, SearchOptions } from "@palimpsest/core/internal/recall";
import type { SearchedThread } from "../../packages/lab/src/eval/question-data.ts";
import { BenchInputError } from "../bench.ts";

/** `--embedder 0.5,0.9`. */
export function qualitiesOf(given: string | true | undefined): readonly number[] {
  if (given === undefined) return [];
  const qualities = given === true ? [Number.NaN] : given.split(",").map(Number);
  if (!qualities.every((quality) => quality >= 0.5 && quality < 1))
    throw new BenchInputError("--embedder: give qualities from 0.5 (knows nothing) to under 1, such as 0.5,0.9.");
  return qualities;
}

export function embedderOf(
  quality: number,
): (thread: SearchedThread, question: string) => Pick<SearchOptions, "closeness" | "propose"> {
  // Of two such values the one with `lead` more is the larger one with the chance `quality`.
  const lead = Math.log(quality / (1 - quality));
  return ({ turns, questions }, question) => {
    const at = questions.findIndex(({ text }) => text === question);
    const evidence = new Set(questions[at]?.evidence);
    const nearness = (seq: number): number => -Math.log(-Math.log(chance(at, seq))) + (evidence.has(seq) ? lead : 0);
    return {
      closeness: async (docs) => docs.map(({ seq }) => nearness(seq)),
      propose: async () =>
        turns
          .map(({ seq, at: time, speaker, session }) => {
            const place = { threadId: "thread", seq, ordinal: seq, session };
            const doc: IndexedDoc = { ...place, at: time, speaker, length: 0, asks: false, ...NO_WORDS };
            return { doc, near: nearness(seq) };
          })
          .sort((a, b) => b.near - a.near)
          .map(({ doc }) => doc),
    };
  };
}

const NO_WORDS = { frequencies: [], passages: null };

/** Over 0 and under 1, by question and message. */
function chance(question: number, seq: number): number {
  let state = Math.imul(question + 1, 0x9e3779b1) ^ Math.imul(seq, 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
  return (((state ^ (state >>> 15)) >>> 0) + 0.5) / 2 ** 32;
}
