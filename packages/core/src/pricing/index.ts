export type { Prices } from "./prices.ts";
export { isCold, RELATIVE_PRICES } from "./prices.ts";
export type { Probe, ProbedMessage, ProbeOptions } from "./probes.ts";
export type { Charge, Piece, PricedRequest } from "./requests.ts";
export { chargeRequest, costOfSideCall } from "./requests.ts";
