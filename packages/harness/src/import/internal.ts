/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { EXPORT_FORMATS } from "../export/export-thread.ts";
export type { ByteSource } from "./byte-source.ts";
export { FORMATS } from "./formats/index.ts";
export { archivedFiles } from "./import-folder.ts";
export { type SyncRound, syncFolder } from "./sync/sync-folder.ts";
export { folderChanges } from "./sync/watch-folder.ts";
export { beginsZip, isZip, zipEntries } from "./zip.ts";
