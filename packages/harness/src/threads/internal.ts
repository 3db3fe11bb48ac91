/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { withWriter } from "./acts.ts";
export { continuedIn, continuedPatch } from "./current-thread.ts";
export { commit } from "./writer.ts";
