/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export type { Prices } from "./prices.ts";
export { RELATIVE_PRICES } from "./prices.ts";
