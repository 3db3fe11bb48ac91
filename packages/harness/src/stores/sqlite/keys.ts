/** Keys to a gateway in SQLite. */
import type { KeyRow, KeyRows } from "../store.ts";
import type { Connection } from "./connection.ts";

export function keyRows(connection: Connection): KeyRows {
  const { guard } = connection;
  return {
    put: (key) =>
      guard(() => {
        const { id, hash, prefix, user, role, createdAt, expiresAt, revokedAt } = key;
        const { changes } = connection.run(
          `INSERT INTO keys (id, hash, prefix, user, role, created, expires, revoked)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          ...[id, hash, prefix, user, role, createdAt],
          expiresAt,
          revokedAt,
        );
        return changes === 1 ? "put" : "exists";
      }),
    find: (hash) =>
      guard(() => {
        const row = connection.get(`SELECT ${COLUMNS} FROM keys WHERE hash = ?`, hash);
        return row && keyOf(row);
      }),
    any: () => guard(() => connection.get("SELECT 1 FROM keys LIMIT 1") !== undefined),
    list: (after = "") =>
      guard(() =>
        connection
          .all(`SELECT ${COLUMNS} FROM keys WHERE id > ? ORDER BY id LIMIT 500`, after)
          .map((row) => keyOf(row)),
      ),
    revoke: (id, at) =>
      guard(() => {
        const { changes } = connection.run("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", at, id);
        return changes === 1 ? "revoked" : "missing";
      }),
  };
}

const COLUMNS = "id, hash, prefix, user, role, created, expires, revoked";

function keyOf(row: Readonly<Record<string, unknown>>): KeyRow {
  return {
    id: row["id"] as string,
    hash: row["hash"] as string,
    prefix: row["prefix"] as string,
    user: row["user"] as string,
    role: row["role"] as KeyRow["role"],
    createdAt: row["created"] as string,
    expiresAt: row["expires"] as string | null,
    revokedAt: row["revoked"] as string | null,
  };
}
