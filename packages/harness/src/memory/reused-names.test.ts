import { after, before, type TestContext } from "node:test";
import { deletedThreads, reusedNames } from "../../test/memory/reused-names-suite.ts";
import { openPostgres } from "../stores/postgres.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { FullStore } from "../stores/store.ts";
import { startPostgres } from "../testing/postgres-server.ts";

let server: Awaited<ReturnType<typeof startPostgres>>;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

let schemas = 0;
const ENGINES: Readonly<Record<string, () => Promise<FullStore>>> = {
  SQLite: async () => openSqlite({ path: ":memory:" }),
  PostgreSQL: () => {
    schemas += 1;
    return openPostgres(`${server.url()}&schema=reused_${schemas}`);
  },
};

for (const [name, open] of Object.entries(ENGINES)) {
  const opened = async (t: TestContext): Promise<FullStore> => {
    const store = await open();
    t.after(() => store.close());
    return store;
  };
  reusedNames(name, opened);
  deletedThreads(name, opened);
}
