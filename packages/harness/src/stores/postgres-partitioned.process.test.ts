/** The whole suite of stores on one whose large tables are cut into parts. */
import pg from "pg";
import { storeConformance } from "../testing/conformance.ts";
import { startPostgres } from "../testing/postgres-server.ts";
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
