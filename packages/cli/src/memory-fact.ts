/** What `memory add` and `memory edit` share: a fact's options, and what to say when it is refused. */
import type { NewFact } from "palimpsest/memory";
import type { Input } from "./command.ts";
import { UsageError } from "./failure.ts";

export function factOptions({ options }: Input): Pick<NewFact, "category" | "confidence"> {
  const { category, confidence } = options;
  if ((confidence !== undefined && !/^(?:0|1|0?\.\d+|[01]\.\d+)$/.test(String(confidence))) || Number(confidence) > 1)
    throw new UsageError(`--confidence must be a number from 0 to 1, not ${JSON.stringify(confidence)}.`);
  return {
    ...(typeof category === "string" && { category }),
    ...(confidence !== undefined && { confidence: Number(confidence) }),
  };
}

export const REFUSED = {
  empty: "There is no word in it: say what is to be remembered.",
  "too-long": "A fact has at most 500 characters: say it shorter, or as several facts.",
} as const;
