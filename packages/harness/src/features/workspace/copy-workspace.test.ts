import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { copyWorkspace, threadWorkspace } from "./workspace.ts";

test("a fork's copied folders are open to their owner alone", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "palimpsest-copy-"));
  t.after(() => rmSync(base, { recursive: true }));
  const [from, to] = ["parent", "fork"].map((id) => threadWorkspace(base, { user: "default", id })) as [
    ReturnType<typeof threadWorkspace>,
    ReturnType<typeof threadWorkspace>,
  ];
  mkdirSync(from.roots.workspace.directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(from.roots.workspace.directory, "note.txt"), "words");
  await copyWorkspace(from, to);
  assert.equal(statSync(to.roots.workspace.directory).mode & 0o777, 0o700);
});
