import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { storeConformance } from "@palimpsest/testing/conformance";
import { openSqlite } from "./sqlite.ts";

storeConformance("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  return {
    connect: async () => openSqlite({ path: join(folder, "log.db") }),
    setClockBack: async (ms) => {
      const database = new DatabaseSync(join(folder, "log.db"), { timeout: 5000 });
      database.prepare("UPDATE leases SET taken = taken + ?, expires = expires + ?").run(ms, ms);
      database.close();
    },
    dispose: async () => rmSync(folder, { recursive: true }),
  };
});
