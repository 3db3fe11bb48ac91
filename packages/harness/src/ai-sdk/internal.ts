/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { type FittingOptions, fittingCalls } from "./fitting-calls.ts";
