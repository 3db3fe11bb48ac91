import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import pg from "pg";
import { eraseSuite } from "../../../test/memory/erase-suite.ts";
import { openPostgres } from "../../stores/postgres.ts";
import { storeStorage } from "./create-memory.ts";

eraseSuite("PostgreSQL, memory in the database", async () => {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-erase-"));
  const server = await startPostgres();
  const store = await openPostgres(server.url());
  const own = new pg.Client(server.url());
  await own.connect();
  return {
    home,
    store,
    storage: storeStorage(store, "postgres"),
    async dump() {
      const { rows } = await own.query(
        "SELECT table_schema s, table_name t FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
      );
      const texts: string[] = [];
      for (const { s, t } of rows) {
        const table = await own.query(`SELECT to_jsonb(r)::text AS text FROM "${s}"."${t}" r`);
        texts.push(...table.rows.map(({ text }) => text as string));
      }
      return Buffer.from(texts.join("\n"));
    },
    async close() {
      await own.end();
      await store.close();
      await server.stop();
      rmSync(home, { recursive: true });
    },
  };
});
