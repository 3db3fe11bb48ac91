import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { openStore } from "../../stores/open.ts";
import { storeStorage } from "./create-memory.ts";
import { fileStorage } from "./file-storage.ts";

test("[F52] twenty processes add at once, in files, SQLite and PostgreSQL, and every fact is there", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-memory-"));
  const server = await startPostgres();
  t.after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const targets = [join(folder, "crowd"), join(folder, "crowd.db"), `${server.url()}&schema=memory_crowd`] as const;
  const stores = [await openStore(targets[1]), await openStore(targets[2])] as const;
  const script = fileURLToPath(new URL("../../../test/memory/add-facts-process.ts", import.meta.url));
  const children = Array.from({ length: 20 }, (_, i) =>
    spawn(process.execPath, ["--conditions=palimpsest-source", script, ...targets, `p${i}`], {
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
  assert.deepEqual(new Set(codes), new Set([0]));
  const files = fileStorage({ base: targets[0], storagePath: "memory.json" });
  for (const storage of [files, storeStorage(stores[0], "sqlite"), storeStorage(stores[1], "postgres")]) {
    const document = (await storage.reload({ userId: "default", agentName: null }))!;
    assert.deepEqual([document.facts.length, document.revision, document.changes!.length], [60, 60, 60]);
    assert.equal(new Set(document.facts.map(({ content }) => content)).size, 60);
  }
  for (const store of stores) await store.close();
});
