/** Drafts in PostgreSQL: a cache beside the log. A draft is never put for a thread that is gone. */

import type { Drafts } from "../store.ts";
import type { Connection } from "./connection.ts";

export function drafts(connection: Connection): Drafts {
  const { schema } = connection;
  return {
    async get(thread, key) {
      const [row] = await connection.run((query) =>
        query<{ value: string; created: string }>(
          `SELECT value, created FROM ${schema}.drafts WHERE thread = $1 AND key = $2`,
          [thread, key],
        ),
      );
      return row && { value: row.value, created: row.created };
    },
    async put(thread, key, value, created) {
      const rows = await connection.run((query) =>
        query(
          `INSERT INTO ${schema}.drafts (thread, key, value, created)
          SELECT id, $2, $3, $4 FROM ${schema}.threads WHERE id = $1 FOR KEY SHARE
          ON CONFLICT (thread, key) DO UPDATE SET value = excluded.value, created = excluded.created RETURNING 1`,
          [thread, key, value, created],
        ),
      );
      return rows.length === 1 ? "put" : "missing";
    },
    async drop(thread, key) {
      await connection.run((query) =>
        query(`DELETE FROM ${schema}.drafts WHERE thread = $1 AND ($2::text IS NULL OR key = $2)`, [
          thread,
          key ?? null,
        ]),
      );
    },
  };
}
