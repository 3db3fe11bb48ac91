/** Whose records a thread shows: its own, then its base's through the fork, and so on. Opens a statement; `$1` is the thread. */
export function lineage(schema: string): string {
  return `WITH RECURSIVE line (thread, through, base, base_at, depth) AS (
    SELECT id, 9223372036854775807, base, base_at, 0 FROM ${schema}.threads WHERE id = $1
    UNION ALL
    SELECT t.id, LEAST(line.through, line.base_at), t.base, t.base_at, line.depth + 1
    FROM line JOIN ${schema}.threads t ON t.id = line.base
  )`;
}
