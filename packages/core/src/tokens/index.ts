export type { Account, Calibration, Count, CountSource, Entry, Prompt, Report, Settled } from "./account.ts";
export { createAccount, viewKey } from "./account.ts";
export type { ImpossibleReport } from "./calibrate.ts";
export type { CountText, Measure, Meter, MeterOptions } from "./counter.ts";
export { charsPerToken, countMessage, createMeter } from "./counter.ts";
export type { ImageRule } from "./images.ts";
export { imageTokens } from "./images.ts";
