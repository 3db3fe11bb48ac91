export type { CountText, Measure, Meter, MeterOptions } from "./counter.ts";
export { charsPerToken, countMessage, createMeter } from "./counter.ts";
export type { ImageRule } from "./images.ts";
export { imageTokens } from "./images.ts";
