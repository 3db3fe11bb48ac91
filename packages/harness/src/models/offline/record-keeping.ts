/**
 * Answers to the prompts the runtime itself sends: a patch or a prose summary of a transcript, and facts for memory. By
 * extraction, with core's own summarizer, so that the answers are as good as they get without a model.
 */
import { openaiShape } from "@palimpsest/core/message";
import { extractSummary, SECTIONS } from "@palimpsest/core/summary";
import type { CountText } from "@palimpsest/core/tokens";
import { factsIn } from "./facts.ts";
import type { Situation } from "./situation.ts";
import { type Spoken, spokenBefore, spokenIn } from "./transcript.ts";

/** The answer to one of our own prompts; null when this is a conversation. */
export function keepRecord(situation: Situation, count: CountText): string | null {
  const { question, earlier } = situation;
  const spoken = spokenIn(question);
  if (ASKS_FOR_FACTS.test(question)) return factsAnswer(spoken ?? spokenBefore(earlier), question);
  if (asksForPatch(question)) return JSON.stringify(patchOf(spoken ?? spokenBefore(earlier), count));
  return spoken === null ? null : prose(spoken, count);
}

function asksForPatch(question: string): boolean {
  const start = question.indexOf("Answer with JSON only");
  return start !== -1 && question.includes('{"add": {', start);
}

const ASKS_FOR_FACTS = /"(?:newFacts|factsToRemove|additions)"/;

const MAX_TOKENS = 1_200;

function stateOf(spoken: readonly Spoken[], count: CountText) {
  const entries = spoken.map(({ seq, role, text }) => ({ seq, message: openaiShape.turn(role, text) }));
  return extractSummary(null, entries, openaiShape, { maxTokens: MAX_TOKENS, count });
}

function patchOf(spoken: readonly Spoken[], count: CountText): unknown {
  const { sections } = stateOf(spoken, count);
  const add = SECTIONS.flatMap((section) => {
    const items = sections[section].map(({ text, seqs, why }) => ({ text, seqs, ...(why !== undefined && { why }) }));
    return items.length === 0 ? [] : [[section, items] as const];
  });
  return { add: Object.fromEntries(add) };
}

function prose(spoken: readonly Spoken[], count: CountText): string {
  const { sections } = stateOf(spoken, count);
  const lines = SECTIONS.flatMap((section) => sections[section].map(({ text }) => `- ${text}`));
  return lines.length === 0 ? "Nothing of lasting value was said." : lines.join("\n");
}

/** Facts come from the user's words only. A prompt without a transcript in our form is read from its conversation block. */
function factsAnswer(spoken: readonly Spoken[], prompt: string): string {
  const words = spoken.length > 0 ? spoken.filter(({ role }) => role === "user") : linesOfUser(prompt);
  const facts = words.flatMap(({ seq, text }) => factsIn(text).map((fact) => ({ ...fact, seqs: [seq] })));
  return JSON.stringify({ newFacts: facts, factsToRemove: [] });
}

function linesOfUser(prompt: string): Spoken[] {
  const lines = prompt.split("\n").flatMap((line) => /^\s*(?:user|human)\s*:\s*(.+)$/i.exec(line)?.[1] ?? []);
  return lines.map((text, index) => ({ seq: index + 1, role: "user", text }));
}
