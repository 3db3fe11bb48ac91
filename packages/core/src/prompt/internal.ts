/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { entryTokens, fixedTokens, type PromptSizes, repairTokens, sizesOf } from "./parts.ts";
export { considerPrompt, sizeOf } from "./prompt.ts";
export { fixedSize } from "./sizer.ts";
