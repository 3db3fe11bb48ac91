import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eraseSuite } from "../../../test/memory/erase-suite.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { fileStorage } from "./file-storage.ts";

eraseSuite("SQLite, memory in a file", async () => {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-erase-"));
  const store = openSqlite({ path: join(home, "palimpsest.db") });
  return {
    home,
    store,
    storage: fileStorage({ base: home, storagePath: "memory.json" }),
    // Its files are in the home, the write-ahead log too.
    dump: async () => Buffer.alloc(0),
    async close() {
      await store.close();
      rmSync(home, { recursive: true });
    },
  };
});
