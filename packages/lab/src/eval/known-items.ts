/**
 * Questions about a recorded session without anybody who labels it: a sentence that the person or the model said later stands for
 * a question, and the first message that held its rarest word is what it is looking for. Once as it stands, once without that word.
 */
import { analyze, sentences } from "@palimpsest/core/internal/text";
import type { SearchedMessage, SearchQuestion } from "./question-data.ts";

/** Which sentences are questions, and which of their words are looked for. */
interface Definition {
  readonly set: string;
  /** A word is rare up to so many messages before the sentence. */
  readonly rare: number;
  /** The first of them must be farther back than this. */
  readonly far: number;
  readonly speakers: readonly string[];
}

const DEFINITIONS: readonly Definition[] = [
  { set: "coding, known item", rare: 2, far: 5, speakers: ["assistant"] },
  { set: "coding, known item far back", rare: 3, far: 20, speakers: ["user", "assistant"] },
];
const [LEAST_WORDS, MOST_WORDS] = [6, 40] as const;
const LEAST_LETTERS = 5;

export function knownItems(
  turns: readonly SearchedMessage[],
  saidAt: (seq: number) => string,
): { readonly set: string; readonly questions: readonly SearchQuestion[] }[] {
  const holders = new Map<string, number[]>();
  for (const { seq, text } of turns)
    for (const term of new Set(analyze(text).map((one) => one.term))) {
      const list = holders.get(term);
      if (list) list.push(seq);
      else holders.set(term, [seq]);
    }
  return DEFINITIONS.flatMap((definition) => {
    const [whole, without]: [SearchQuestion[], SearchQuestion[]] = [[], []];
    for (const { seq, speaker } of turns) {
      if (!definition.speakers.includes(speaker)) continue;
      for (const { sentence, at, end, first } of itemsOf(saidAt(seq), seq, { ...definition, holders })) {
        // The word it is looking for is what the shown text must hold.
        const shared = { kind: "known item", evidence: [first], answer: sentence.slice(at, end), before: seq };
        whole.push({ ...shared, text: sentence });
        without.push({ ...shared, text: `${sentence.slice(0, at)} ${sentence.slice(end)}` });
      }
    }
    return [
      { set: definition.set, questions: whole },
      { set: `${definition.set}, telling word removed`, questions: without },
    ];
  });
}

interface KnownItem {
  readonly sentence: string;
  readonly at: number;
  readonly end: number;
  readonly first: number;
}

/** Each sentence of the message with a rare word that was first said long before; of several the rarest. */
function itemsOf(
  text: string,
  seq: number,
  { rare, far, holders }: Definition & { readonly holders: ReadonlyMap<string, readonly number[]> },
): KnownItem[] {
  return sentences(text).flatMap((sentence) => {
    const terms = analyze(sentence);
    if (terms.length < LEAST_WORDS || terms.length > MOST_WORDS) return [];
    const items = terms.flatMap(({ term, kind, at, end }) => {
      const held = (holders.get(term) ?? []).filter((one) => one < seq);
      const isItem =
        kind !== "part" && end - at >= LEAST_LETTERS && held.length <= rare && seq - (held[0] ?? seq) > far;
      return isItem ? [{ sentence, at, end, first: held[0]!, held: held.length }] : [];
    });
    return items.length === 0 ? [] : [items.reduce((best, one) => (one.held < best.held ? one : best))];
  });
}
