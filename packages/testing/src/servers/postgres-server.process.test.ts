import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { Client } from "pg";
import { startPostgres } from "./postgres-server.ts";

test("the test server answers, survives a crash, and leaves nothing behind", async () => {
  const server = await startPostgres();
  await query(server.url(), "create table kept (n int); insert into kept values (7)");
  await server.crash();
  await assert.rejects(query(server.url(), "select 1"));
  await server.start();
  assert.deepEqual(await query(server.url(), "select n from kept"), [{ n: 7 }]);
  assert.deepEqual(await query(server.url(), "show fsync"), [{ fsync: "on" }]);
  await server.stop();
  assert.equal(existsSync(server.folder), false);
});

test("the test server ends with the process that started it, even when that is killed", async () => {
  const script = `import { startPostgres } from ${JSON.stringify(new URL("./postgres-server.ts", import.meta.url))};
    const server = await startPostgres();
    console.log(server.folder);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const folder = line.toString().trim();
  assert.equal(existsSync(folder), true);
  child.kill("SIGKILL");
  while (existsSync(folder)) await new Promise((wake) => setTimeout(wake, 50));
});

async function query(url: string, text: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
