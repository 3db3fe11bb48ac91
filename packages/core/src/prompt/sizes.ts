/** Sizes as one prompt counts: the meter's tokens brought to the prompt's count. */
import { JOIN_TOKENS, type Prompt, type SizedEntry } from "./prompt.ts";

/** Sizes on the scale of one prompt, for what stands in it and what might. */
export interface PromptSizes<M> {
  message(message: M): number;
  text(text: string): number;
  /** Of each part's own text, by its place. */
  parts(message: M): readonly number[];
}

export function sizesOf<M>({ sizer, factor }: Pick<Prompt<M>, "sizer" | "factor">): PromptSizes<M> {
  const { message, text, parts } = sizer;
  return {
    message(one) {
      const size = message(one);
      return Math.ceil((size.text + size.images) * factor);
    },
    text: (words) => Math.ceil(text(words) * factor),
    parts: (one) => parts(one).map((tokens) => Math.ceil(tokens * factor)),
  };
}

/** Of an entry as it is sent. */
export function entryTokens<M>({ size, lent, lentTokens }: SizedEntry<M>, factor: number): number {
  const own = Math.ceil((size.text + size.images) * factor);
  return lent === null ? own : own + Math.ceil(lentTokens * factor) + JOIN_TOKENS;
}

/** What making the entries acceptable to their provider adds to them, in the meter's tokens. */
export function repairTokens<M>({ sentTokens, shownTokens }: Pick<Prompt<M>, "sentTokens" | "shownTokens">): number {
  return Math.max(0, sentTokens - shownTokens);
}
