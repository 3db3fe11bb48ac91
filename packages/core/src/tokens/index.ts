export type {
  Account,
  Calibration,
  Count,
  CountSource,
  EntrySize,
  ImpossibleReport,
  PromptSize,
  Report,
  Resume,
  Settled,
} from "./account.ts";
export { createAccount } from "./account.ts";
export type { Breakdown, Group, PartName } from "./breakdown.ts";
export { breakdown } from "./breakdown.ts";
export type { Budget, EffectiveWindow, Endpoint, Fit, LearnedLimit, LearnedLimits } from "./budget.ts";
export { answerReserve, effectiveWindow } from "./budget.ts";
export type { Frame, MessageSize, Meter, MeterOptions } from "./counter.ts";
export { type CountText, charsPerToken, createMeter } from "./counter.ts";
export type { ImageRule } from "./images.ts";
