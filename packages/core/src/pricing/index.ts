export type { Prices } from "./prices.ts";
export { RELATIVE_PRICES } from "./prices.ts";
