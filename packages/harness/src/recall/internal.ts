/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { coverText, findText, hitsText, hitsWithin, mapNote, mapOfThread, readText } from "./answers.ts";
export { recallShape } from "./catch-up.ts";
export { indexProgress, keepEmbedded, untilEmbedded } from "./indexing.ts";
export { coverNote, whyNothing } from "./search.ts";
