/**
 * Reads what a summarizer answered: a patch, prose, or the reason why it is neither [F1] to [F4]. Lenient about the
 * packaging, strict about the content; an answer cut at the output limit keeps its complete items, prose does not.
 */
import { parsePatch, validateSummary } from "@palimpsest/core/internal/summary";
import type { InvalidReason, ParsedPatch, SummaryPatch } from "@palimpsest/core/summary";
import type { SummaryAnswer } from "./summarize.ts";
import type { Reading } from "./summary-call.ts";
import type { SummaryFailure } from "./summary-writer.ts";

export interface ReadPatch {
  readonly patch: SummaryPatch;
  /** What was there but not understood. */
  readonly ignored: readonly string[];
}

/** `shown` is the whole prompt, to recognize an echo of it. */
export function readPatchAnswer(answer: SummaryAnswer, shown: string): Reading<ReadPatch> {
  const verdict = validateSummary(answer.text, { hiddenTokens: 1, count: () => 0, transcript: shown });
  const refused = verdict.kind === "invalid" ? verdict.reason : null;
  if (refused === "echo" || refused === "error-text" || refused === "html") return unusable(refused, answer);
  const parsed = parsePatch(answer.text);
  if (parsed.kind === "patch") {
    const read = { patch: parsed.patch, ignored: parsed.ignored };
    return answer.finish === "length" ? { kind: "cut", value: read } : { kind: "usable", value: read };
  }
  if (answer.finish === "length") return { kind: "cut", value: null };
  if (isEmptyPatch(parsed, answer.text)) return { kind: "usable", value: { patch: EMPTY, ignored: [] } };
  if (refused !== null) return unusable(refused, answer);
  return { kind: "unusable", reason: "invalid", detail: `no patch in the answer (${parsed.reason}): ${start(answer)}` };
}

export function readProseAnswer(
  answer: SummaryAnswer,
  options: { readonly hiddenTokens: number; readonly count: (text: string) => number; readonly transcript: string },
): Reading<string> {
  if (answer.finish === "length") return { kind: "cut", value: null };
  const verdict = validateSummary(answer.text, options);
  if (verdict.kind === "invalid") return unusable(verdict.reason, answer);
  if (!isText(verdict.text)) return { kind: "unusable", reason: "invalid", detail: `no text: ${start(answer)}` };
  return { kind: "usable", value: verdict.text };
}

/** Mostly letters, digits and spaces, and nothing that only broken decoding leaves behind. */
function isText(text: string): boolean {
  const words = text.match(/[\p{L}\p{M}\p{N}\s]/gu)?.length ?? 0;
  return words >= [...text].length / 2 && !text.includes("\u0000") && !text.includes("\ufffd");
}

const EMPTY: SummaryPatch = { add: {}, update: [], resolve: [] };

export function isEmpty({ patch }: ReadPatch): boolean {
  return Object.keys(patch.add).length + patch.update.length + patch.resolve.length === 0;
}

/** A part of the conversation may hold nothing worth recording; then the answer is a patch without content, not prose. */
function isEmptyPatch(parsed: Exclude<ParsedPatch, { kind: "patch" }>, text: string): boolean {
  return parsed.reason === "nothing-in-it" && (/"(?:add|update|resolve)"/.test(text) || /\{\s*\}/.test(text));
}

const FAILURE: Readonly<Record<InvalidReason, SummaryFailure>> = {
  empty: "empty",
  "only-reasoning": "empty",
  "nothing-in-it": "empty",
  refusal: "refusal",
  "error-text": "error",
  html: "error",
  "no-shrink": "no-shrink",
  echo: "invalid",
};

function unusable(reason: InvalidReason, answer: SummaryAnswer): Extract<Reading<never>, { kind: "unusable" }> {
  return { kind: "unusable", reason: FAILURE[reason], detail: `${reason}: ${start(answer)}` };
}

function start({ text }: SummaryAnswer): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
