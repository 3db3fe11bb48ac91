/** Sizes as one prompt counts: the meter's tokens brought to the prompt's count. */
import { JOIN_TOKENS } from "./parts.ts";
import type { Prompt, SizedEntry } from "./prompt.ts";
import type { PartSize } from "./sizer.ts";

/** For what stands in a prompt and for what might. */
export interface PromptSizes<M> {
  message(message: M): number;
  text(text: string): number;
  parts(message: M): readonly PartSize[];
  /** An entry as it is sent, with this message in the place of its own. */
  entry(entry: SizedEntry<M>, message?: M): number;
}

export function sizesOf<M>({ sizer, factor }: Pick<Prompt<M>, "sizer" | "factor">): PromptSizes<M> {
  const scaled = (tokens: number): number => Math.ceil(tokens * factor);
  const message = (one: M): number => {
    const { text, images } = sizer.message(one);
    return scaled(text + images);
  };
  return {
    message,
    text: (words) => scaled(sizer.text(words)),
    parts: (one) => sizer.parts(one).map(({ text, whole }) => ({ text: scaled(text), whole: scaled(whole) })),
    entry(entry, instead = entry.message) {
      if (instead === entry.message) return entryTokens(entry, factor);
      return message(instead) + (entry.addition === null ? 0 : scaled(entry.additionTokens) + JOIN_TOKENS);
    },
  };
}

/** Of an entry as it is sent. */
export function entryTokens<M>({ size, addition, additionTokens }: SizedEntry<M>, factor: number): number {
  const own = Math.ceil((size.text + size.images) * factor);
  return addition === null ? own : own + Math.ceil(additionTokens * factor) + JOIN_TOKENS;
}

/** What making the entries acceptable to their provider adds to them, in the meter's tokens. */
export function repairTokens<M>({ sentTokens, shownTokens }: Pick<Prompt<M>, "sentTokens" | "shownTokens">): number {
  return Math.max(0, sentTokens - shownTokens);
}

/** What no entry accounts for: system prompt, tool schemas, what repairs add. */
export function fixedTokens<M>(prompt: Pick<Prompt<M>, "fixed" | "factor" | "sentTokens" | "shownTokens">): number {
  return Math.ceil((prompt.fixed.tokens + repairTokens(prompt)) * prompt.factor);
}
