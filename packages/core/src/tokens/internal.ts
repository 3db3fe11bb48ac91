/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export type { Account, Budget, Count, CountSource, EntrySize, PromptSize, Report, Settled } from "./account.ts";
export { answerReserve, createAccount, fit, resumeAccount, viewKey } from "./account.ts";
export type { Frame, LearnedLimits, MessageSize, Meter } from "./counter.ts";
export {
  type CountText,
  charsPerToken,
  createMeter,
  effectiveWindow,
  endpointKey,
  endpointsWith,
  learnedLimit,
  learnLimit,
  sampled,
} from "./counter.ts";
export type { ImageRule } from "./estimates.ts";
export { imageSize } from "./estimates.ts";
