import assert from "node:assert/strict";
import { queueConformance } from "@palimpsest/testing/conformance";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import pg from "pg";
import { listenToPostgres } from "../../../test/stores/heard-statements.ts";
import { judgeUserStatements } from "../../../test/stores/user-statements.ts";
import { openPostgres } from "../../stores/postgres.ts";

queueConformance("PostgreSQL", async () => {
  const server = await startPostgres();
  const ear = await listenToPostgres(server);
  const store = (await openPostgres(ear.url)).forUser("ada");
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
      await ear.stop();
      const { ofEveryUser } = await judgeUserStatements(server.url(), ear.everStatement());
      await server.stop();
      assert.deepEqual(ofEveryUser, [], "a statement that doesn't name its user asks every node of a Citus");
    },
  };
});
