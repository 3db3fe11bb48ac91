/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { isCold } from "./prices.ts";
export { answersIn, findProbes } from "./probes.ts";
export { chargeRequest, costOfSideCall, type PricedRequest } from "./requests.ts";
