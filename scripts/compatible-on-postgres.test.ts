// The compatible endpoints on PostgreSQL: what clients do with their history and what is held for them, as on SQLite.
import { after, before } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { heldMessagesSuite } from "../packages/gateway/test/held-messages-suite.ts";
import { heldSuite } from "../packages/gateway/test/held-suite.ts";
import { matchedSuite } from "../packages/gateway/test/matched-suite.ts";

let postgres: PostgresServer;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.stop());

matchedSuite("PostgreSQL", (number) => `${postgres.url()}&schema=t${number}`);
heldMessagesSuite("PostgreSQL", (number) => `${postgres.url()}&schema=h${number}`);
heldSuite("PostgreSQL", (number) => `${postgres.url()}&schema=r${number}`);
