/**
 * Virtual paths: what the model may name, and which folder of the thread a name stands for. Pure text work: it decides
 * where a path would lead, and refuses what can't be inside. That nothing on the disk leads elsewhere is checked when
 * the file is opened (`inside.ts`).
 */

export const VIRTUAL_ROOT = "/mnt/user-data";

export const ROOT_NAMES = ["workspace", "uploads", "outputs", "history", "tool-outputs"] as const;
export type RootName = (typeof ROOT_NAMES)[number];

/** A name inside one of the thread's folders; no segments: the folder itself. */
export interface Place {
  readonly root: RootName;
  readonly segments: readonly string[];
}

export type Resolved =
  | { readonly kind: "place"; readonly place: Place }
  /** `/mnt/user-data` itself: it can be listed and searched, and holds only the folders. */
  | { readonly kind: "top" }
  | { readonly kind: "refused"; readonly problem: string };

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;

/** Relative paths start in the workspace. Names are compared exactly, so another case is another name. */
export function resolveVirtual(path: string): Resolved {
  const problem = unusable(path);
  if (problem !== null) return { kind: "refused", problem };
  const from = path.startsWith("/") ? path : `${VIRTUAL_ROOT}/workspace/${path}`;
  const segments = collapse(from);
  if (segments === null || segments[0] !== "mnt" || segments[1] !== "user-data") return outside(path);
  const [root, ...inner] = segments.slice(2);
  if (root === undefined) return { kind: "top" };
  if (!isRootName(root)) return outside(path);
  const long = inner.find((name) => bytes(name) > MAX_NAME_BYTES);
  if (long !== undefined) {
    return { kind: "refused", problem: `the name "${long.slice(0, 40)}..." is longer than ${MAX_NAME_BYTES} bytes` };
  }
  return { kind: "place", place: { root, segments: inner } };
}

/** The one spelling of a place. */
export function virtualPath({ root, segments }: Place): string {
  return [VIRTUAL_ROOT, root, ...segments].join("/");
}

function unusable(path: string): string | null {
  if (path === "") return "the path is empty";
  if (path.includes("\0")) return "the path contains a null byte";
  if (path.includes("\\")) return `the path ${shown(path)} contains a backslash: separate folders with /`;
  if (bytes(path) > MAX_PATH_BYTES) return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  return null;
}

/** Segments without `.` and `..`; null when `..` climbs above the top. Links are never followed, so text decides. */
function collapse(path: string): readonly string[] | null {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return null;
  }
  return segments;
}

function outside(path: string): Resolved {
  const roots = ROOT_NAMES.map((name) => `${VIRTUAL_ROOT}/${name}`).join(", ");
  return { kind: "refused", problem: `${shown(path)} is outside of the workspace: use a path under one of ${roots}` };
}

function isRootName(name: string): name is RootName {
  return (ROOT_NAMES as readonly string[]).includes(name);
}

function shown(path: string): string {
  return JSON.stringify(path.length > 120 ? `${path.slice(0, 120)}...` : path);
}

function bytes(text: string): number {
  return Buffer.byteLength(text);
}
