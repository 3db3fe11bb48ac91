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
export type {
  Budget,
  EffectiveWindow,
  Endpoint,
  Fit,
  Frame,
  LearnedLimit,
  LearnedLimits,
  MessageSize,
  Meter,
  MeterOptions,
} from "./counter.ts";
export { answerReserve, type CountText, charsPerToken, createMeter, effectiveWindow } from "./counter.ts";
export type { ImageRule } from "./images.ts";
