/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { settleInterrupted } from "./middleware.ts";
export { pruneSubagents } from "./prune.ts";
