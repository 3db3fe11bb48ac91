// An import of a conversation that is too large to be held, killed between and within its transactions and run again.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openSqlite } from "../stores/index.ts";
import { replay, verify } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";
import { importFile } from "./import-file.ts";

const MESSAGES = 600;

/** Lines of a session; every one of `forks` hangs on the line ten before it. */
function session(forks: readonly number[]) {
  return Array.from({ length: MESSAGES }, (_, index) => {
    const parent = forks.includes(index) ? index - 10 : index - 1;
    const type = index % 2 === 0 ? "user" : "assistant";
    const message = { role: type, content: `message ${index} ${"x".repeat(index % 90)}` };
    return { uuid: `u${index}`, parentUuid: parent < 0 ? null : `u${parent}`, sessionId: "s", type, message };
  });
}

for (const [title, forks] of [
  ["one line of messages", []],
  ["a fork, and a fork of it", [200, 400]],
] as const) {
  test(`a large import that is killed goes on where it was, each message once and in order: ${title}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-killed-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [file, database] = [join(folder, "session.jsonl"), join(folder, "store.db")];
    const lines = session(forks);
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    // The first is stopped in the middle, so that it can't have been faster than its end; the others are not.
    await importUntilKilled(file, database, "stop");
    const versions = [await partsOf(t, database)];
    for (let round = 0; round < 2; round += 1) {
      await importUntilKilled(file, database, "go on");
      versions.push(await partsOf(t, database));
    }
    assert.ok(versions[0]! > 0 && versions[0]! < MESSAGES, `${versions[0]} messages when it was first killed`);
    assert.deepEqual(
      versions,
      versions.toSorted((one, other) => one - other),
    );

    const store = openSqlite({ path: database });
    t.after(() => store.close());
    const outcome = await importFile(threadDeps(store), file, { threadId: "a", onInvalid: "refuse" });
    assert.ok(outcome.kind === "imported" || outcome.kind === "exists", JSON.stringify(outcome));
    const names = ["a", ...forks.map((_, index) => `a-fork-${index + 1}`)];
    for (const [index, name] of names.entries()) {
      const bodies: string[] = [];
      for await (const { body } of replay({ store }, name)) bodies.push(body);
      assert.deepEqual(bodies, saidUntil(lines, (forks[index] ?? MESSAGES) - 1), name);
      assert.equal((await verify(threadDeps(store), name)).kind, "whole", name);
      assert.equal((await store.head(name))?.state["importing"] ?? null, null, name);
    }
  });
}

/** The bodies from the first line to this one, by their parents. */
function saidUntil(lines: ReturnType<typeof session>, last: number): readonly string[] {
  const byId = new Map(lines.map((line) => [line.uuid, line]));
  const bodies: string[] = [];
  for (let line = lines[last]; line !== undefined; line = byId.get(line.parentUuid ?? ""))
    bodies.unshift(JSON.stringify(line.message));
  return bodies;
}

/** How many messages all threads have by now. */
async function partsOf(t: TestContext, database: string): Promise<number> {
  const store = openSqlite({ path: database });
  t.after(() => store.close());
  let count = 0;
  for (const threadId of ["a", "a-fork-1", "a-fork-2"]) {
    const from = (await store.header(threadId))?.forkedAt ?? 0;
    if ((await store.head(threadId)) === undefined) continue;
    for await (const { chained } of store.records(threadId, { kinds: ["message"], bodies: "none" }))
      if (chained.seq > from) count += 1;
  }
  return count;
}

/** In a process of its own, with little that is held at a time, killed once some of it was written. */
async function importUntilKilled(file: string, database: string, then: "stop" | "go on"): Promise<void> {
  const local = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `import { readFileSync } from "node:fs";
    import { importSource } from ${local("./import-file.ts")};
    import { openSqlite } from ${local("../stores/index.ts")};
    import { threadDeps } from ${local("../thread/writer.ts")};
    const bytes = readFileSync(${JSON.stringify(file)});
    let readings = 0;
    async function* chunks() {
      readings += 1;
      for (let start = 0; start < bytes.length; start += 1000) {
        yield bytes.subarray(start, start + 1000);
        if (readings < 2 || start < bytes.length / 2) continue;
        process.stdout.write("half\\n");
        if (${then === "stop"}) await new Promise((resolve) => setTimeout(resolve, 600_000));
      }
    }
    const source = { name: "session.jsonl", size: bytes.length, chunks };
    const deps = threadDeps(openSqlite({ path: ${JSON.stringify(database)} }));
    await importSource(deps, source, { threadId: "a", onInvalid: "refuse" }, 3000);`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  await Promise.race([once(child.stdout, "data"), closed]);
  child.kill("SIGKILL");
  await closed;
}
