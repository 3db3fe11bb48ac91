export type { ChainedRecord, Head } from "./head.ts";
export type * from "./record.ts";
export { FORMAT_VERSION } from "./record.ts";
