/** Drafts in PostgreSQL: a cache beside the log. A draft is never put for a thread that is gone. */

import type { Drafts } from "../store.ts";
import { BESIDE_NAMED, beside, NAMED, numOf, type PostgresUserConnection } from "./lineage.ts";

export function drafts(connection: PostgresUserConnection): Drafts {
  const { schema, userId } = connection;
  return {
    async get(threadId, key) {
      const [row] = await connection.run((query) =>
        query<{ value: string; created: string }>(
          `SELECT value, created FROM ${schema}.drafts WHERE owner = $1 AND thread = ${numOf(schema)} AND key = $3`,
          [userId, threadId, key],
        ),
      );
      return row && { value: row.value, created: row.created };
    },
    async put(threadId, key, value, created) {
      const rows = await connection.run((query) =>
        query(
          `WITH thread AS MATERIALIZED (SELECT num FROM ${schema}.threads WHERE ${NAMED} FOR KEY SHARE), written AS (
            INSERT INTO ${schema}.drafts (owner, thread, key, value, created) SELECT named.owner, thread.num, $3, $4, $5 FROM ${beside(schema)}, thread WHERE ${BESIDE_NAMED}
            ON CONFLICT (owner, thread, key) DO UPDATE SET value = excluded.value, created = excluded.created
          ) SELECT 1 FROM thread`,
          [userId, threadId, key, value, created],
        ),
      );
      return rows.length === 1 ? "put" : "missing";
    },
    async drop(threadId, key) {
      await connection.run((query) =>
        query(
          `DELETE FROM ${schema}.drafts
          WHERE owner = $1 AND thread = ${numOf(schema)} AND ($3::text IS NULL OR key = $3)`,
          [userId, threadId, key ?? null],
        ),
      );
    },
  };
}
