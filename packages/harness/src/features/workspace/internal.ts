/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { assertRoom, type Place, resolveVirtual, VIRTUAL_ROOT, virtualPath, withFile, withFolder } from "./inside.ts";
export { writeWhole } from "./read-write.ts";
export { listFolder, walk } from "./search-files.ts";
export { fileCopier } from "./workspace.ts";
