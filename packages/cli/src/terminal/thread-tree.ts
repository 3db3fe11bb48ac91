/** Threads under the thread they come from: forks under their parent, sub-agents under who asked them. Pure. */

export interface TreeRow {
  readonly id: string;
  readonly parent: string | null;
}

/** Depth first, in the order given among siblings. One whose parent is not among them stands at the top. */
export function inTree<R extends TreeRow>(rows: readonly R[]): readonly (R & { readonly depth: number })[] {
  const ids = new Set(rows.map(({ id }) => id));
  const under = Map.groupBy(rows, ({ parent }) => (parent !== null && ids.has(parent) ? parent : null));
  const ordered: (R & { readonly depth: number })[] = [];
  const waiting = (under.get(null) ?? []).map((row) => ({ row, depth: 0 })).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { row, depth } = next;
    ordered.push({ ...row, depth });
    for (const child of (under.get(row.id) ?? []).toReversed()) waiting.push({ row: child, depth: depth + 1 });
  }
  return ordered;
}
