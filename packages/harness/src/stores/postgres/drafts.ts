/** Drafts in PostgreSQL: a cache beside the log. A draft is never put for a thread that is gone. */

import type { Drafts } from "../store.ts";
import { NAMED, numOf, type UserConnection } from "./lineage.ts";

export function drafts(connection: UserConnection): Drafts {
  const { schema, userId } = connection;
  return {
    async get(threadId, key) {
      const [row] = await connection.run((query) =>
        query<{ value: string; created: string }>(
          `SELECT value, created FROM ${schema}.drafts WHERE thread = ${numOf(schema)} AND key = $2`,
          [[userId, threadId], key],
        ),
      );
      return row && { value: row.value, created: row.created };
    },
    async put(threadId, key, value, created) {
      const rows = await connection.run((query) =>
        query(
          `INSERT INTO ${schema}.drafts (thread, key, value, created)
          SELECT num, $2, $3, $4 FROM ${schema}.threads WHERE ${NAMED} FOR KEY SHARE
          ON CONFLICT (thread, key) DO UPDATE SET value = excluded.value, created = excluded.created RETURNING 1`,
          [[userId, threadId], key, value, created],
        ),
      );
      return rows.length === 1 ? "put" : "missing";
    },
    async drop(threadId, key) {
      await connection.run((query) =>
        query(`DELETE FROM ${schema}.drafts WHERE thread = ${numOf(schema)} AND ($2::text IS NULL OR key = $2)`, [
          [userId, threadId],
          key ?? null,
        ]),
      );
    },
  };
}
