/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { FORMATS } from "./formats/index.ts";
export { type SyncRound, syncFolder } from "./sync/sync-folder.ts";
export { folderChanges } from "./sync/watch-folder.ts";
export { beginsZip, isZip } from "./zip.ts";
