/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { coverText, findText, hitsText, readText } from "./answers.ts";
export { keepEmbedded, untilEmbedded } from "./embedder.ts";
export { indexProgress } from "./indexing.ts";
export { coverNote } from "./search.ts";
