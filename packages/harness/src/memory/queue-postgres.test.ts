import pg from "pg";
import { openPostgres } from "../stores/postgres.ts";
import { startPostgres } from "../testing/postgres-server.ts";
import { queueSuite } from "./queue-suite.ts";

queueSuite("PostgreSQL", async () => {
  const server = await startPostgres();
  const store = await openPostgres(server.url());
  await store.jobs.hurry("nothing-yet");
  const own = new pg.Client(server.url());
  await own.connect();
  return {
    store,
    clock: () => new Date(),
    // The server's clock can't be moved, but everything it is compared with can.
    async elapse(ms) {
      const shift = `$1::float8 * interval '1 millisecond'`;
      await own.query(
        `UPDATE palimpsest_worker._private_jobs SET run_at = run_at - ${shift}, created_at = created_at - ${shift},
          updated_at = updated_at - ${shift}, locked_at = locked_at - ${shift}`,
        [ms],
      );
      await own.query(`UPDATE palimpsest.memory_workers SET seen = seen - ${shift}`, [ms]);
    },
    async close() {
      await own.end();
      await store.close();
      await server.stop();
    },
  };
});
