/** Keys to a gateway in PostgreSQL. */
import type { KeyRow, KeyRows } from "../store.ts";
import { DURABLE, type PostgresConnection } from "./connection.ts";

export function keyRows(connection: PostgresConnection): KeyRows {
  const table = `${connection.schema}.keys`;
  return {
    put: (key) =>
      connection.run(async (query, again) => {
        const { id, hash, prefix, user, role, createdAt, expiresAt, revokedAt } = key;
        const made = await query(
          `WITH ${DURABLE} INSERT INTO ${table} (id, hash, prefix, owner, role, created, expires, revoked)
          SELECT $1, $2, $3, $4, $5, $6, $7, $8 FROM commit ON CONFLICT DO NOTHING RETURNING 1`,
          [id, hash, prefix, user, role, createdAt, expiresAt, revokedAt],
        );
        if (made.length === 1) return "put";
        if (!again) return "exists";
        // The first attempt lost its connection, perhaps after it was committed.
        const own = await query(`SELECT 1 FROM ${table} WHERE id = $1 AND hash = $2`, [id, hash]);
        return own.length === 1 ? "put" : "exists";
      }),
    async find(hash) {
      const sql = `SELECT ${COLUMNS} FROM ${table} WHERE hash = $1`;
      const [row] = await connection.run((query) => query<KeyRow>(sql, [hash]));
      return row;
    },
    async any() {
      return (await connection.run((query) => query(`SELECT 1 FROM ${table} LIMIT 1`))).length > 0;
    },
    list: (after = "") =>
      connection.run((query) =>
        query<KeyRow>(`SELECT ${COLUMNS} FROM ${table} WHERE id > $1 ORDER BY id LIMIT 500`, [after]),
      ),
    async revoke(id, at) {
      const sql = `WITH ${DURABLE} UPDATE ${table} SET revoked = coalesce(revoked, $2) FROM commit WHERE id = $1 RETURNING 1`;
      return (await connection.run((query) => query(sql, [id, at]))).length === 1 ? "revoked" : "missing";
    },
  };
}

const COLUMNS = `id, hash, prefix, owner AS "user", role, created AS "createdAt", expires AS "expiresAt",
  revoked AS "revokedAt"`;
