import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeConformance } from "./conformance.ts";
import { openSqlite } from "./sqlite.ts";

storeConformance("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  return {
    connect: async () => openSqlite({ path: join(folder, "log.db") }),
    dispose: async () => rmSync(folder, { recursive: true }),
  };
});
