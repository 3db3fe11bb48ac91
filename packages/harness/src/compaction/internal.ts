/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { threadFolder } from "../home-folders.ts";
export { configuredWriter } from "./model-summarize.ts";
export { ensureParts, historyFolder, homeOriginals } from "./part-files.ts";
