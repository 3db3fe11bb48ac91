export type { Prices } from "./prices.ts";
export { RELATIVE_PRICES } from "./prices.ts";
export type { Probe, ProbedMessage, ProbeOptions } from "./probes.ts";
