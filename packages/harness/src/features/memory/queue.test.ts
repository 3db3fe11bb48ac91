import { queueConformance } from "@palimpsest/testing/conformance";
import { openSqlite } from "../../stores/sqlite.ts";

queueConformance("SQLite", async () => {
  const store = openSqlite({ path: ":memory:" }).forUser("ada");
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
