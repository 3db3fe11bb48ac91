/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export type { Breakdown, Group, PartName } from "./breakdown.ts";
export { breakdown, promptBreakdown } from "./breakdown.ts";
export { buildPrompt, considerPrompt, type Prompt, type SizedEntry, sizeOf } from "./prompt.ts";
export {
  type BindReasoning,
  createSizer,
  entryTokens,
  type FixedSize,
  fixedSize,
  fixedTokens,
  repairTokens,
  type Sizer,
  type SizerOptions,
  sizesOf,
} from "./sizer.ts";
