/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { threadFolder } from "../home-folders.ts";
export { configuredWriter } from "./configured-writer.ts";
export { ensureParts, homeOriginals } from "./part-files.ts";
export { historyFolder } from "./thread-compactor.ts";
