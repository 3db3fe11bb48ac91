import { openSqlite } from "../stores/sqlite.ts";
import { queueSuite } from "./queue-suite.ts";

queueSuite("SQLite", async () => {
  const store = openSqlite({ path: ":memory:" });
  let now = Date.UTC(2026, 10, 15);
  return {
    store,
    clock: () => new Date(now),
    elapse: async (ms) => {
      now += ms;
    },
    close: () => store.close(),
  };
});
