export type { ChainedRecord, Head } from "./head.ts";
export { liveAfter, liveRecords, NOTHING_LIVE } from "./live.ts";
export type * from "./record.ts";
export { FORMAT_VERSION } from "./record.ts";
export type { LiveRecords, ViewEntry, ViewOptions, ViewSource } from "./view.ts";
export { ACKNOWLEDGEMENT, applyPrune, view } from "./view.ts";
