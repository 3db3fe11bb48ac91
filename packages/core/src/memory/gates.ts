/**
 * What may be stored: the gates every proposal of the model passes before it touches the document. Each says yes with the
 * proposal made storable, or no with the reason. Pure; applying what passed is `merge.ts`.
 */

import { redactSecrets } from "../text/secrets.ts";
import type { MemoryDocument } from "./document.ts";
import { sectionText } from "./document.ts";
import { visible } from "./escape.ts";
import type { SourceTurn } from "./extract-input.ts";
import { meaning } from "./likeness.ts";
import { carriers, findSource, saysStrangeNames, userSaid } from "./sources.ts";
import type { Addition, SectionRewrite } from "./update.ts";
import { describeWish, isApproval, isInstruction, isTask, isUpload } from "./wording.ts";

export interface Gates {
  /** At least this sure, or it is not stored. */
  readonly threshold: number;
  readonly turns: readonly SourceTurn[];
  /** Text that is remembered already: its names may be used without being said again. */
  readonly known: string;
}

export type RefusalReason =
  | "empty"
  | "too-long"
  | "below-threshold"
  | "not-durable"
  | "not-about-user"
  | "instruction"
  | "approval"
  | "only-a-secret"
  | "no-user-source"
  | "not-said-by-user"
  | "too-many"
  | "unknown-id"
  | "different-subject"
  | "no-replacement"
  | "loses-too-much"
  | "over-max-facts";

/** One proposal that was not taken, for the log. */
export interface Refusal {
  readonly what: "addition" | "update" | "removal" | "section";
  readonly reason: RefusalReason;
  /** The beginning of the text, secrets taken out. */
  readonly text: string;
}

/** Longest content of one fact, and text of one section, in characters. */
export const MAX_FACT_CHARACTERS = 500;
const MAX_SECTION_CHARACTERS = 4_000;

export type Checked<T> =
  | { readonly kind: "passed"; readonly value: T }
  | { readonly kind: "refused"; readonly reason: RefusalReason };

export interface Storable {
  readonly content: string;
  readonly category: string;
  readonly confidence: number;
  readonly refs: readonly string[];
}

export function checkFact(fact: Addition, gates: Gates): Checked<Storable> {
  const said = checkWords(fact.content);
  if (said.kind === "refused") return said;
  if (!(fact.confidence >= gates.threshold)) return refused("below-threshold");
  if (!fact.aboutUser) return refused("not-about-user");
  if (!fact.durable) return refused("not-durable");
  const words = visible(fact.content).replace(/\s+/g, " ");
  const source = findSource({ ...fact, content: words }, gates.turns, gates.known);
  if (source.kind === "unsourced") return refused(source.reason);
  const { confidence } = fact;
  const category = visible(fact.category).slice(0, 40) || "context";
  return { kind: "passed", value: { content: said.value, category, confidence, refs: source.refs } };
}

/** The gates that look at the words alone: what a program states without a conversation to quote passes these. */
export function checkWords(content: string): Checked<string> {
  if (content.length > MAX_FACT_CHARACTERS) return refused("too-long");
  const words = visible(content).replace(/\s+/g, " ");
  if (meaning(words).size === 0) return refused("empty");
  if (isTask(words) || isUpload(words)) return refused("not-durable");
  if (isInstruction(words) || isInstruction(content)) return refused("instruction");
  if (isApproval(words)) return refused("approval");
  const clean = redactSecrets(words);
  if (clean.found.length > 0 && meaning(clean.text.replace(/\[redacted [\w-]+\]/g, "")).size < 2)
    return refused("only-a-secret");
  return { kind: "passed", value: describeWish(clean.text) };
}

export interface StorableSection {
  readonly text: string;
  readonly refs: readonly string[];
}

/**
 * A rewrite keeps what stood there: shorter by more than a quarter, it lost something [F58]. What is new in it rests on the
 * user's words, as a fact does.
 */
export function checkSection(
  rewrite: SectionRewrite,
  document: MemoryDocument,
  gates: Gates,
): Checked<StorableSection> {
  if (rewrite.text.length > MAX_SECTION_CHARACTERS) return refused("too-long");
  const text = withoutUploads(redactSecrets(visible(rewrite.text)).text.replace(/\s+/g, " "));
  if (meaning(text).size === 0) return refused("empty");
  if (!(rewrite.confidence >= gates.threshold)) return refused("below-threshold");
  if (isInstruction(text) || isInstruction(rewrite.text)) return refused("instruction");
  if (isApproval(text)) return refused("approval");
  const before = meaning(sectionText(document, rewrite.path));
  if (meaning(text).size < before.size * 0.75) return refused("loses-too-much");
  const userTexts = gates.turns.flatMap(({ role, text: words }) => (role === "user" ? [words] : []));
  if (saysStrangeNames(text, [gates.known, ...userTexts].join("\n"))) return refused("not-said-by-user");
  const refs =
    rewrite.quote === "" || userSaid(rewrite.quote, gates.turns) ? carriers(text, gates.known, gates.turns) : null;
  return refs === null ? refused("no-user-source") : { kind: "passed", value: { text, refs } };
}

function withoutUploads(text: string): string {
  const sentences = text.split(/(?<=[.!?])\s/);
  return sentences.filter((sentence) => !isUpload(sentence)).join(" ");
}

export function refusal(what: Refusal["what"], text: string, reason: RefusalReason): Refusal {
  return { what, reason, text: redactSecrets(visible(text.slice(0, 200))).text.slice(0, 120) };
}

function refused(reason: RefusalReason): { readonly kind: "refused"; readonly reason: RefusalReason } {
  return { kind: "refused", reason };
}
