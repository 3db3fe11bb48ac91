/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { fileCopier } from "./file-copier.ts";
export { withFile, withFolder } from "./inside.ts";
export { assertRoom } from "./quota.ts";
export { type Place, resolveVirtual, virtualPath } from "./virtual-path.ts";
export { listFolder, walk } from "./walk.ts";
export { writeWhole } from "./write-whole.ts";
