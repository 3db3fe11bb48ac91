/** Memory documents in PostgreSQL: one row each, written by compare-and-set on the revision. */
import type { MemoryKey, MemoryRow, MemoryRows } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";

export function memoryRows(connection: PostgresConnection): MemoryRows {
  const table = `${connection.schema}.memories`;
  return {
    async get(userId, agentName) {
      const [row] = await connection.run((query) =>
        query<{ revision: number; document: string }>(
          `SELECT revision, document FROM ${table} WHERE owner = $1 AND agent = $2`,
          [userId, agentName],
        ),
      );
      return row && { revision: Number(row.revision), document: row.document };
    },
    async revision(userId, agentName) {
      const sql = `SELECT revision FROM ${table} WHERE owner = $1 AND agent = $2`;
      const [row] = await connection.run((query) => query<{ revision: number }>(sql, [userId, agentName]));
      return row?.revision ?? 0;
    },
    put: (userId, agentName, row, expect) =>
      connection.transaction(async (query, again) => {
        const values = [userId, agentName, row.revision, row.document];
        const change =
          expect === 0
            ? `INSERT INTO ${table} (owner, agent, revision, document) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
            : `UPDATE ${table} SET revision = $3, document = $4 WHERE owner = $1 AND agent = $2 AND revision = $5`;
        const changed = await query(`${change} RETURNING 1`, expect === 0 ? values : [...values, expect]);
        if (changed.length === 1) return "saved";
        if (!again) return "conflict";
        // The first attempt lost its connection, perhaps after it was committed.
        const now = await query<Record<keyof MemoryRow, unknown>>(
          `SELECT document FROM ${table} WHERE owner = $1 AND agent = $2`,
          [userId, agentName],
        );
        return now[0]?.document === row.document ? "saved" : "conflict";
      }),
    list: (after) =>
      connection.run((query) => {
        const beyond = after === undefined ? "" : "WHERE (owner, agent) > ($1, $2)";
        const sql = `SELECT owner AS "userId", agent AS "agentName" FROM ${table} ${beyond} ORDER BY owner, agent LIMIT 500`;
        return query<MemoryKey>(sql, after === undefined ? [] : [after.userId, after.agentName]);
      }),
  };
}
