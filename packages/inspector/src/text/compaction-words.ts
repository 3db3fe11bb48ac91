/** Why a compaction happened and what did it, in words a person reads. Pure. */

import { grouped } from "./format.ts";

export function shortenedWords({ tokens, first, last }: Readonly<Record<"tokens" | "first" | "last", number>>): string {
  const [shown, end, all] = [first, last, tokens].map(grouped);
  return `Your message was too long for the window; the model sees the first ${shown} and last ${end} of its ${all} tokens`;
}

/** `rung` and `reason` are as the log has them: `summarize`, `fraction 0.85`. */
export function compactionWords(rung: string, reason: string): string {
  return `${whyOf(reason)}; ${RUNGS[rung] ?? rung}`;
}

/** `extract;1,178`, as a request's `compaction` has it. */
export function madeWords(made: string): string {
  const [rung = "", from, through] = made.split(/[;,]/);
  return `${RUNGS[rung] ?? rung}${through === undefined ? "" : `, for #${from} to #${through}`}`;
}

const RUNGS: Readonly<Record<string, string>> = {
  prune: "older parts were shortened",
  summarize: "a model wrote the summary",
  extract: "the summary was made without a model",
  clamp: "what was too long was cut",
  collapse: "open tool calls were folded",
};

function whyOf(reason: string): string {
  const [kind = "", value = ""] = reason.split(" ");
  const figure = Number(value);
  if (kind === "fraction") return `The prompt had passed ${Math.round(figure * 100)} % of the window`;
  if (kind === "tokens") return `The prompt had passed ${figure.toLocaleString("en-US")} tokens`;
  if (kind === "messages") return `There were more than ${figure.toLocaleString("en-US")} messages`;
  return REASONS[reason] ?? reason;
}

const REASONS: Readonly<Record<string, string>> = {
  manual: "It was asked for",
  overflow: "The provider said that the prompt is too long",
  window: "The prompt would not have fitted into the window",
  price: "Going on would have cost more than a smaller prompt",
};
