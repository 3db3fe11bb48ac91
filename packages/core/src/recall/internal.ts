/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { cosine, packVector } from "./closeness.ts";
export { place } from "./entry.ts";
export { followUps } from "./follow-ups.ts";
export { isEcho } from "./indexable.ts";
