/** The whole suite of stores on one whose large tables are cut into parts. */

import { storeConformance } from "@palimpsest/testing/conformance";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import pg from "pg";
import { openPostgres } from "./postgres.ts";

storeConformance("PostgreSQL in parts", async () => {
  const server = await startPostgres();
  return {
    connect: () => openPostgres(server.url(), { partitions: 3 }),
    setClockBack: async (ms) => {
      const client = new pg.Client(server.url());
      await client.connect();
      const later = (column: string) => `${column} = ${column} + $1 * interval '1 millisecond'`;
      await client.query(`UPDATE palimpsest.threads SET ${later("lease_taken")}, ${later("lease_until")}`, [ms]);
      await client.end();
    },
    dispose: () => server.stop(),
  };
});
