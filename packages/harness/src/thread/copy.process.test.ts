import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { assertSame, NOT_COPIED } from "../../test/threads/same-store.ts";
import { openStore } from "../stores/open.ts";
import { copyStore } from "./copy.ts";

const engines = bothEngines();

for (const source of ENGINES) {
  const target = source === "SQLite" ? "PostgreSQL" : "SQLite";
  test(`${source} to ${target}: a copy killed at any moment goes on where it was`, async () => {
    const places = [engines.fresh(source), engines.fresh(target)] as const;
    const [from, to] = [await openStore(places[0]), await openStore(places[1])];
    for (const id of ["a", "b"]) {
      const writer = await writeThread(from, id);
      await say(writer, ...Array.from({ length: 1200 }, (_, index) => `message ${index}`));
      await from.releaseLease(writer.lease);
    }
    let kills = 0;
    while ((await to.head("b"))?.version !== 1200) {
      if (kills === 6) await copyStore(from, to);
      else await copyUntilKilled(...places);
      kills += 1;
    }
    const report = await copyStore(from, to);
    assert.deepEqual(report, { copied: 0, present: 2, records: 0, failed: [], memories: NOT_COPIED });
    await assertSame(from, to);
    await Promise.all([from.close(), to.close()]);
  });
}

async function copyUntilKilled(source: string, target: string): Promise<void> {
  const local = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `import { copyStore } from ${local("./copy.ts")};
    import { openStore } from ${local("../stores/open.ts")};
    const [from, to] = [await openStore(${JSON.stringify(source)}), await openStore(${JSON.stringify(target)})];
    await copyStore(from, to, { onProgress: () => process.stdout.write("batch\\n") });`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  await Promise.race([once(child.stdout, "data"), closed]);
  child.kill("SIGKILL");
  await closed;
}
