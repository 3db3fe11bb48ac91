/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { considerPrompt, sizeOf } from "./prompt.ts";
export { entryTokens, fixedSize, fixedTokens, type PromptSizes, repairTokens, sizesOf } from "./sizer.ts";
