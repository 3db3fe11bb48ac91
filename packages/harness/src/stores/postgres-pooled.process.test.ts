/** The store behind PgBouncer in transaction mode, where every transaction may get another connection. */
import { test } from "node:test";
import { storeConformance } from "@palimpsest/testing/conformance";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { noPgBouncer, startPgBouncer } from "../../test/stores/pgbouncer.ts";
import { openPostgres } from "./postgres.ts";

if (noPgBouncer === null)
  storeConformance("PostgreSQL behind PgBouncer", async () => {
    const server = await startPostgres();
    const pooler = await startPgBouncer(server);
    return {
      connect: () => openPostgres(pooler.url),
      dispose: async () => {
        await pooler.stop();
        await server.stop();
      },
    };
  });
else test("the store behind PgBouncer", (t) => t.skip(noPgBouncer ?? ""));
