import assert from "node:assert/strict";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { runMemoryCommand, userMemoryFiles } from "palimpsest/internal/memory-tool";
import { exportUser } from "palimpsest/internal/user-operations";
import { world } from "../../test/examples.ts";
import { keyed } from "../../test/keyed.ts";

test("a user's memory files are exported, and gone with everything else of theirs", async (t) => {
  const at = await world(t);
  const { directory } = at.home;
  for (const userId of ["ada", "bob"]) {
    const files = userMemoryFiles(directory, userId);
    const path = "/memories/notes/birds.md";
    await runMemoryCommand(files, { command: "create", path, file_text: `${userId}: a bittern at dawn\n` });
  }
  const exported = (await at.ask("GET", "/api/user/export", "ada")).text.trim().split("\n");
  const kept = exported.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "memory-file");
  assert.deepEqual(kept, [{ kind: "memory-file", path: "/memories/notes/birds.md", text: "ada: a bittern at dawn\n" }]);

  const answer = await at.ask("DELETE /api/user", "/api/user", "ada", { body: { user: "ada" } });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(globSync(join(directory, "users", "ada", "memories", "**", "*")), []);
  const left = globSync(join(directory, "users", "ada", "**")).filter((path) => statSync(path).isFile());
  for (const path of left) assert.doesNotMatch(readFileSync(path, "latin1"), /bittern|heron/i, path);
  const bobs = await runMemoryCommand(userMemoryFiles(directory, "bob"), {
    command: "view",
    path: "/memories/notes/birds.md",
  });
  assert.match(bobs, /bob: a bittern/);
});

test("a long message is exported in short pieces, so that others are served between them", async (t) => {
  const { home } = await world(t);
  const text = 'a "quoted" word '.repeat(400_000);
  await say(await writeThread(home.store, "long"), text);
  const { pieces } = await exportUser.run(home, {}, { signal: t.signal });
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(piece);
  assert.ok(Math.max(...texts.map(({ length }) => length)) < 3_000_000);
  const lines = texts.join("").trim().split("\n");
  const said = lines.map((line) => JSON.parse(line).record).find((record) => record?.kind === "message");
  assert.ok(JSON.parse(said.body).content === text);
});

test("a key ends no key of a higher role by deleting its user", async (t) => {
  const at = await keyed(t);
  const asOps = { headers: { "x-palimpsest-user": "ops" }, body: { user: "ops" } };
  const refused = await at.ask("delegate", "DELETE", "/api/user", asOps);
  assert.deepEqual([refused.status, JSON.parse(refused.text).error.code], [403, "not-your-user"]);
  assert.equal((await at.ask("admin", "GET", "/api/keys")).status, 200);
  const asBob = { headers: { "x-palimpsest-user": "bob" }, body: { user: "bob" } };
  assert.equal((await at.ask("delegate", "DELETE", "/api/user", asBob)).status, 200);
});
