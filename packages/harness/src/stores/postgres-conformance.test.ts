import assert from "node:assert/strict";
import { storeConformance } from "@palimpsest/testing/conformance";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import pg from "pg";
import { listenToPostgres } from "../../test/stores/heard-statements.ts";
import { judgeUserStatements } from "../../test/stores/user-statements.ts";
import { openPostgres } from "./postgres.ts";

storeConformance("PostgreSQL", async () => {
  const server = await startPostgres();
  const ear = await listenToPostgres(server);
  return {
    connect: () => openPostgres(ear.url),
    setClockBack: async (ms) => {
      const client = new pg.Client(server.url());
      await client.connect();
      const later = (column: string) => `${column} = ${column} + $1 * interval '1 millisecond'`;
      await client.query(`UPDATE palimpsest.threads SET ${later("lease_taken")}, ${later("lease_until")}`, [ms]);
      await client.end();
    },
    dispose: async () => {
      await ear.stop();
      const { ofEveryUser, unheard } = await judgeUserStatements(server.url(), ear.everStatement());
      await server.stop();
      assert.deepEqual(ear.sessionState(), [], "a connection may be another client's after each transaction");
      assert.deepEqual(unheard, [], "the suite has a case for each table of users");
      assert.deepEqual(ofEveryUser, [], "a statement that doesn't name its user asks every node of a Citus");
    },
  };
});
