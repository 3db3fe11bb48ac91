/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { type Pruned, pruneSubagents } from "./delegations.ts";
export { settleInterrupted } from "./middleware.ts";
