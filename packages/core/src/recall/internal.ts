/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { cosine, PROPOSED, packVector } from "./closeness.ts";
export { place } from "./entry.ts";
export { followUps } from "./follow-ups.ts";
export { isEcho } from "./indexable.ts";
export { asksForCourse, type MapText, mapLineText, mapText } from "./map-text.ts";
export { holdsQuoted } from "./quoted.ts";
export { type StandingSentence, typedInstructions } from "./standing.ts";
export { createThreadMap, type MapLine, type MapMessage, type ThreadMap } from "./thread-map.ts";
