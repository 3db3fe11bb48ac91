/**
 * Which facts stay when there are more than `max_facts`: those with the highest score, and the score can be read. What a
 * person wrote goes last. Facts that have ended are history and have a room of their own of the same size.
 */
import { type Fact, liveFacts, type MemoryDocument } from "./document.ts";

interface FactScore {
  readonly score: number;
  /** Where it comes from, for the audit. */
  readonly why: string;
}

/** Confidence; a whole point for a person's own; a tenth for what was confirmed; up to three tenths off for a year's age. */
function scoreFact(fact: Fact, now: string): FactScore {
  const days = Math.max(0, (Date.parse(now) - Date.parse(fact.confirmedAt ?? fact.createdAt)) / 86_400_000);
  const age = Number.isFinite(days) ? Math.min(1, days / 365) * 0.3 : 0.3;
  const manual = fact.source === "manual" ? 1 : 0;
  const confirmed = fact.confirmedAt === undefined ? 0 : 0.1;
  const score = fact.confidence + manual + confirmed - age;
  const parts = [`confidence ${fact.confidence.toFixed(2)}`];
  if (manual > 0) parts.push("written by a person +1.00");
  if (confirmed > 0) parts.push("confirmed +0.10");
  if (age >= 0.005) parts.push(`age -${age.toFixed(2)}`);
  return { score, why: `score ${score.toFixed(2)}: ${parts.join(", ")}` };
}

/** The facts that have to go, the lowest score first. */
export function overCapacity(document: MemoryDocument, maxFacts: number, now: string): { fact: Fact; why: string }[] {
  const live = liveFacts(document);
  const ended = document.facts.filter((fact) => fact.validTo !== undefined);
  const scored = live.map((fact) => ({ fact, ...scoreFact(fact, now) })).sort((a, b) => a.score - b.score);
  const evicted = scored.slice(0, Math.max(0, live.length - maxFacts));
  const oldest = ended.toSorted((a, b) => (a.validTo! < b.validTo! ? -1 : 1));
  const dropped = oldest.slice(0, Math.max(0, ended.length - maxFacts));
  return [
    ...evicted.map(({ fact, why }) => ({ fact, why: `over max_facts ${maxFacts}; ${why}` })),
    ...dropped.map((fact) => ({ fact, why: `the oldest of more than ${maxFacts} ended facts` })),
  ];
}
