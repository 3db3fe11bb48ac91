import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openaiShape } from "@palimpsest/core/internal/message";
import { openSqlite } from "../stores/sqlite.ts";
import { openThread } from "./open-thread.ts";

test("a message of many megabytes is written in a turn of its own, and is as it was when it was given", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  const store = openSqlite({ path: join(folder, "log.db") });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const opened = await openThread({ store, id: "t", shape: openaiShape, window: 8_000 });
  assert.ok(opened.kind === "open");
  const { thread } = opened;
  const content = "word ".repeat(1_000_000);
  const given = { role: "user", content } as const;
  const changed: { content: string } = given as never;
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const first = thread.append([given]);
  changed.content = "something else";
  const second = thread.append([{ role: "user", content: "short" }]);
  assert.deepEqual([await first, await second], [[1], [2]]);
  done = true;
  assert.ok(turns >= 2, `${turns}: one before the transaction, one after it`);
  const said: unknown[] = [];
  for await (const { record } of store.records("t", { kinds: ["message"] }))
    if (record.kind === "message") said.push(JSON.parse(record.body).content);
  assert.deepEqual(said, [content, "short"]);
  await thread.close();
});
