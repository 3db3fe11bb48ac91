import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSqlite } from "../stores/index.ts";
import { threadDeps } from "../thread/writer.ts";
import { importFolder } from "./import-folder.ts";

test("a folder's sessions become threads named after their files; a bad file keeps no other out; again changes nothing", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-folder-"));
  const store = openSqlite({ path: ":memory:" });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, "2026", "01"), { recursive: true });
  const say = (content: string) => JSON.stringify({ role: "user", content });
  writeFileSync(join(folder, "a.jsonl"), say("one"));
  writeFileSync(join(folder, "2026", "01", "rollout-1.jsonl"), `${say("two")}\n${say("three")}`);
  writeFileSync(join(folder, "broken.json"), "{");
  writeFileSync(join(folder, "notes.txt"), "not looked at");
  const run = () => importFolder(threadDeps(store), folder, { threadId: "old", onInvalid: "refuse" });
  const kinds = (await run()).files.map(({ file, outcome }) => [file, outcome.kind]);
  assert.deepEqual(kinds, [
    [join("2026", "01", "rollout-1.jsonl"), "imported"],
    ["a.jsonl", "imported"],
    ["broken.json", "invalid"],
  ]);
  assert.equal((await store.head("old-2026-01-rollout-1"))?.messages, 2);
  assert.deepEqual(
    (await run()).files.map(({ outcome }) => outcome.kind),
    ["exists", "exists", "invalid"],
  );
});
