/** What becomes of an answer that has begun: it is asked for again with less, or handed on as it is. Pure. */
import type { LengthRule } from "./policy.ts";

export interface AnswerFacts {
  readonly status: number;
  readonly form: "stream" | "whole";
  /** By its status, or in the first words of its stream. */
  readonly refuses: boolean;
  /** Whether the thread could count what was sent: what can't be counted can't be made shorter. */
  readonly counted: boolean;
  /** Who makes prompts shorter. */
  readonly length: LengthRule["ours"];
  /** From 1. */
  readonly attempt: number;
}

export interface NextStep {
  /** `if-shorter`: it is asked again, if it was refused for its length and something can be taken away. */
  readonly again: "if-shorter" | "no";
  /** How it is handed on otherwise. A stream that refuses is one nevertheless: its status was given. */
  readonly handOn: "refusal" | "stream" | "whole";
}

export function nextStep({ status, form, refuses, counted, length, attempt }: AnswerFacts): NextStep {
  const mayShorten = refuses && counted && length === "fit" && attempt < MOST_ATTEMPTS;
  return { again: mayShorten ? "if-shorter" : "no", handOn: status >= 400 ? "refusal" : form };
}

/** Each makes the prompt shorter; a provider that refuses this many refuses for another reason. */
const MOST_ATTEMPTS = 4;
