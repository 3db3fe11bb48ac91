export type {
  Account,
  Budget,
  Calibration,
  Count,
  CountSource,
  EntrySize,
  Fit,
  ImpossibleReport,
  PromptSize,
  Report,
  Resume,
  Settled,
} from "./account.ts";
export { answerReserve, createAccount } from "./account.ts";
export type { Breakdown, Group, PartName } from "./breakdown.ts";
export { breakdown } from "./breakdown.ts";
export type {
  EffectiveWindow,
  Endpoint,
  Frame,
  LearnedLimit,
  LearnedLimits,
  MessageSize,
  Meter,
  MeterOptions,
} from "./counter.ts";
export { type CountText, charsPerToken, createMeter, effectiveWindow } from "./counter.ts";
export type { ImageRule } from "./images.ts";
