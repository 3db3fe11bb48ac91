/** What is asked of the server beside its own upkeep: whether it answers, and a vacuum. */
import type { Upkeep } from "../store.ts";
import { LONG, type PostgresConnection, type SqlQuery } from "./connection.ts";
import { describeNodes, isDistributed, nodeStates } from "./distribution.ts";
import { buildLateIndexes, missingIndexes } from "./indexes.ts";
import { countPartitions } from "./partitions.ts";

export function upkeep(connection: PostgresConnection): Upkeep {
  const { schema, run } = connection;
  return {
    index: () => buildLateIndexes(connection),
    // Freed rows and the server's own log are the server's to clean (docs/stores.md).
    scrub: async () => ({ kind: "clean" }),
    async check() {
      const layout = await run((query) => describeLayout(query, schema));
      const [server] = await run((query) =>
        query<{ version: string }>("SELECT current_setting('server_version') AS version"),
      );
      const is = `PostgreSQL ${server!.version} answers`;
      if (!layout.ok) return { ok: false, detail: `${is}; ${layout.detail}` };
      const sql = `SELECT count(*) AS threads FROM ${schema}.threads`;
      const [row] = await run((query) => query<{ threads: number }>(sql));
      const missing = (await missingIndexes(connection)).map(({ name }) => name);
      const slow = missing.length > 0 ? `; without the index ${missing.join(", ")}: run "palimpsest store init"` : "";
      return { ok: true, detail: `${is}; ${row!.threads} threads; ${layout.detail}${slow}` };
    },
    async probe() {
      const sql = `INSERT INTO ${schema}.instances (id, kind, seen) VALUES ('probe', 'probe', clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`;
      await run((query) => query(sql));
    },
    async vacuum() {
      for (const table of [
        "threads",
        "records",
        "drafts",
        "outbox",
        "prompts",
        "recall_entries",
        "recall_postings",
        "recall_vectors",
      ])
        await run((query) => query(`VACUUM (ANALYZE) ${schema}.${table}`), LONG);
    },
  };
}

async function describeLayout(
  query: SqlQuery,
  schema: string,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  if (await isDistributed(query, schema)) return describeNodes(await nodeStates(query, schema));
  const parts = await countPartitions(query, schema);
  return { ok: true, detail: parts === 0 ? "on one server" : `on one server, the large tables in ${parts} partitions` };
}
