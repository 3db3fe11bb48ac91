/** What is asked of the server beside its own upkeep: whether it answers, and a vacuum. */
import type { Upkeep } from "../store.ts";
import { type Connection, LONG } from "./connection.ts";

export function upkeep({ schema, run }: Connection): Upkeep {
  return {
    // Freed rows and the server's own log are the server's to clean (docs/stores.md).
    scrub: async () => ({ kind: "clean" }),
    async check() {
      const sql = `SELECT current_setting('server_version') AS version, count(*) AS threads FROM ${schema}.threads`;
      const [row] = await run((query) => query<{ version: string; threads: number }>(sql));
      return { ok: true, detail: `PostgreSQL ${row!.version} answers; ${row!.threads} threads` };
    },
    async vacuum() {
      for (const table of ["threads", "records", "drafts", "outbox", "prompts", "recall_entries", "recall_postings"])
        await run((query) => query(`VACUUM (ANALYZE) ${schema}.${table}`), LONG);
    },
  };
}
