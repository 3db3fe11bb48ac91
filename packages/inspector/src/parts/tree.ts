/** Threads as a tree: forks and sub-agents stand under the thread they came from, the newest change first. Pure. */
import type { ThreadRowText } from "../text/thread-row.ts";

export interface TreeBranch {
  readonly thread: ThreadRowText;
  readonly depth: number;
  /** A fork that is called as the thread it came from. */
  readonly isTwin?: boolean;
}

/** In the order they are shown. A thread whose parent is gone, or that is in a circle, stands by itself. */
export function branchesOf(threads: Iterable<ThreadRowText>): readonly TreeBranch[] {
  const rows = [...threads];
  const byId = new Map(rows.map((row) => [row.id, row]));
  const children = Map.groupBy(rows, ({ id, parent }) =>
    parent !== null && parent !== id && byId.has(parent) ? parent : "",
  );
  const newest = new Map<string, string>();
  const shown = new Set<string>();
  const branches: TreeBranch[] = [];
  const visit = (thread: ThreadRowText, depth: number) => {
    if (shown.has(thread.id)) return;
    shown.add(thread.id);
    const { parent, kind, title } = thread;
    const isTwin = kind === "main" && parent !== null && title !== null && byId.get(parent)?.title === title;
    branches.push({ thread, depth, isTwin });
    // Forks of such a fork stand beside it: edits of edits are no staircase.
    const under = isTwin ? depth : Math.min(depth + 1, DEEPEST);
    for (const child of ordered(children.get(thread.id) ?? [])) visit(child, under);
  };
  const changed = (row: ThreadRowText, trail: ReadonlySet<string> = new Set()): string => {
    const known = newest.get(row.id);
    if (known !== undefined || trail.has(row.id)) return known ?? row.updatedAt;
    const within = new Set([...trail, row.id]);
    const times = (children.get(row.id) ?? []).map((child) => changed(child, within));
    const last = times.reduce((latest, time) => (time > latest ? time : latest), row.updatedAt);
    newest.set(row.id, last);
    return last;
  };
  const ordered = (some: readonly ThreadRowText[]) =>
    some
      .map((row) => ({ row, at: changed(row) }))
      .toSorted((a, b) => (a.at > b.at ? -1 : a.at < b.at ? 1 : a.row.id < b.row.id ? -1 : 1))
      .map(({ row }) => row);
  for (const row of ordered(children.get("") ?? [])) visit(row, 0);
  for (const row of rows) visit(row, 0);
  return branches;
}

/** Deeper ones would leave no room for their names. */
const DEEPEST = 6;

export function nameOf({ title, id }: Pick<ThreadRowText, "title" | "id">): string {
  return title === null || title.trim() === "" ? id : title;
}

/** Those whose name or id has every word, without the tree: parents may be missing. */
export function filtered(branches: readonly TreeBranch[], text: string): readonly TreeBranch[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return branches;
  return branches
    .filter(({ thread: { id, title } }) => {
      const name = `${title ?? ""} ${id}`.toLowerCase();
      return words.every((word) => name.includes(word));
    })
    .map(({ thread }) => ({ thread, depth: 0 }));
}

/** An id for a file that is dropped: of its name, as far as an id may hold it. */
export function idOfFile(name: string, taken: ReadonlySet<string>): string {
  const plain =
    name
      .replace(/\.[^.]{1,10}$/, "")
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 60) || "imported";
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? plain : `${plain}-${number}`;
    if (!taken.has(id)) return id;
  }
}
