/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { considerPrompt, sizeOf } from "./prompt.ts";
export { fixedSize } from "./sizer.ts";
export { entryTokens, fixedTokens, type PromptSizes, repairTokens, sizesOf } from "./sizes.ts";
