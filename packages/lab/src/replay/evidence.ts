/**
 * Questions with known evidence, asked at the end of a transcript: how much of the evidence a prompt holds word for word,
 * and how much a search over everything said brings back among its first hits. The search doesn't depend on the policy.
 */

import { openaiShape } from "@palimpsest/core/internal/message";
import { messageText } from "@palimpsest/core/internal/summary";
import type { View } from "./policy.ts";
import type { EvidenceQuestion, Transcript } from "./transcript.ts";
import { searchTurns } from "./turn-search.ts";

/** Sums over the questions of the share of their evidence. */
export interface EvidenceTally {
  readonly questions: number;
  readonly inPrompt: number;
  readonly withRecall: number;
}

export async function askForEvidence(transcript: Transcript, view: View, hits: number): Promise<EvidenceTally> {
  const { questions, turns } = transcript;
  const hitsOf = await recalled(transcript, hits);
  const entries = view.map(({ seq, source, message }) => ({ seq, source, text: messageText(message, openaiShape) }));
  const inPrompt = (turn: number): boolean => {
    const words = messageText(turns[turn]!.message, openaiShape);
    return entries.some(({ seq, source, text }) => (seq === turn + 1 || source === "summary") && text.includes(words));
  };
  const share = ({ evidence }: EvidenceQuestion, has: (turn: number) => boolean): number =>
    evidence.filter(has).length / evidence.length;
  return {
    questions: questions.length,
    inPrompt: sum(questions.map((question) => share(question, inPrompt))),
    withRecall: sum(
      questions.map((question) => share(question, (turn) => inPrompt(turn) || hitsOf.get(question)!.has(turn))),
    ),
  };
}

const searched = new WeakMap<Transcript, Map<number, Promise<FoundEvidence>>>();

/** For each question the turns a search brings back. */
type FoundEvidence = ReadonlyMap<EvidenceQuestion, ReadonlySet<number>>;

function recalled(transcript: Transcript, hits: number): Promise<FoundEvidence> {
  const byHits = searched.get(transcript) ?? new Map<number, Promise<FoundEvidence>>();
  searched.set(transcript, byHits);
  const results = byHits.get(hits) ?? searchAll(transcript, hits);
  byHits.set(hits, results);
  return results;
}

async function searchAll({ turns, questions }: Transcript, hits: number): Promise<FoundEvidence> {
  const { find } = searchTurns(turns);
  const results = new Map<EvidenceQuestion, ReadonlySet<number>>();
  for (const question of questions)
    results.set(question, new Set(await find(question.text, { end: turns.length, hits })));
  return results;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
