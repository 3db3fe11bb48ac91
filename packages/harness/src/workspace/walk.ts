/**
 * Walks folders of the workspace, depth first and in name order, without following links. It ends at a number of entries
 * or when it is told to, and says so; what vanishes on the way is passed over.
 */
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { withFolder } from "./inside.ts";
import { failureFor, ToolFailure } from "./tool-failure.ts";
import { type Place, resolveVirtual, virtualPath } from "./virtual-path.ts";
import type { Workspace } from "./workspace.ts";

type EntryKind = "file" | "folder" | "link" | "other";

export interface Walked {
  readonly place: Place;
  readonly kind: EntryKind;
  /** From the folder the walk started in. */
  readonly relative: string;
}

export interface WalkLimits {
  readonly maxEntries: number;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
}

/** The folders a search starts in: the one that is named, or those with the user's and the agent's own files. */
export function searchStarts(path: string): readonly Place[] {
  const resolved = resolveVirtual(path);
  if (resolved.kind === "refused") throw new ToolFailure(`${resolved.problem}.`);
  if (resolved.kind === "place") return [resolved.place];
  return (["workspace", "uploads", "outputs"] as const).map((root) => ({ root, segments: [] }));
}

/** Yields entries; returns why it ended. */
export async function* walk(
  workspace: Workspace,
  start: Place,
  limits: WalkLimits,
): AsyncGenerator<Walked, "complete" | "stopped"> {
  const waiting: Walked[] = [];
  const add = async (folder: Place, relative: string): Promise<void> => {
    const entries = await listFolder(workspace, folder);
    for (const { name, kind } of entries.toReversed()) {
      const place = { root: folder.root, segments: [...folder.segments, name] };
      waiting.push({ place, kind, relative: relative === "" ? name : `${relative}/${name}` });
    }
  };
  await add(start, "");
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (limits.signal.aborted || ++seen > limits.maxEntries) return "stopped";
    yield next;
    const depth = next.place.segments.length - start.segments.length;
    if (next.kind !== "folder") continue;
    if (depth >= limits.maxDepth) return "stopped";
    await add(next.place, next.relative).catch(() => {});
  }
  return "complete";
}

export interface Listed {
  readonly name: string;
  readonly kind: EntryKind;
}

/** The entries of one folder by name. Files that are being written don't show. */
export async function listFolder(workspace: Workspace, place: Place): Promise<readonly Listed[]> {
  try {
    const entries = await withFolder(workspace, place, (folder) => readdir(folder.path, { withFileTypes: true }));
    return entries
      .filter(({ name }) => !TEMPORARY.test(name))
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw failureFor(virtualPath(place), error);
  }
}

const TEMPORARY = /^\.[0-9a-f-]{36}\.tmp$|^\.part-.*\.tmp$/;

function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
