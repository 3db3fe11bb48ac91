import pg from "pg";
import { openPostgres } from "../stores/postgres.ts";
import { queueConformance } from "../testing/conformance.ts";
import { startPostgres } from "../testing/postgres-server.ts";

queueConformance("PostgreSQL", async () => {
  const server = await startPostgres();
  const store = (await openPostgres(server.url())).forUser("ada");
  const own = new pg.Client(server.url());
  await own.connect();
  return {
    store,
    clock: () => new Date(),
    // The server's clock can't be moved, but everything it is compared with can.
    async elapse(ms) {
      const shift = "$1::float8";
      await own.query(
        `UPDATE palimpsest.outbox SET run = run - ${shift}, first = first - ${shift}, queued = queued - ${shift},
          leased = leased - ${shift}, until = until - ${shift}`,
        [ms],
      );
    },
    async close() {
      await own.end();
      await store.close();
      await server.stop();
    },
  };
});
