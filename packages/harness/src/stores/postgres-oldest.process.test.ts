/** The whole suite of stores on the oldest PostgreSQL that is supported, where its binaries are installed. */
import { existsSync } from "node:fs";
import { test } from "node:test";
import { storeConformance } from "@palimpsest/testing/conformance";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import pg from "pg";
import { openPostgres } from "./postgres.ts";

const PLACES = ["/usr/lib/postgresql/15", "/usr/pgsql-15", "/opt/homebrew/opt/postgresql@15"];
const installation = PLACES.find((place) => existsSync(`${place}/bin/initdb`));

if (installation === undefined)
  test("PostgreSQL 15", { skip: `not found in ${PLACES.join(", ")}: install it to run the suite on it` });
else
  storeConformance("PostgreSQL 15", async () => {
    const server = await startPostgres([], { installation });
    return {
      connect: () => openPostgres(server.url()),
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
