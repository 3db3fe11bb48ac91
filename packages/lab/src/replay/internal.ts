/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { RECALL_HITS } from "./lab.ts";
export { ours } from "./ours.ts";
export { ownPage } from "./own-page.ts";
export { type OwnReport, type OwnSession, ownTotals, playOwnSessions } from "./own-sessions.ts";
