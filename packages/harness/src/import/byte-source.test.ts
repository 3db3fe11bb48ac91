import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileSource } from "./byte-source.ts";
import { isZip } from "./zip.ts";

test("a pipe is refused instead of waiting for its writer", {
  skip: process.platform === "win32" && "no pipes there",
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-pipe-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  assert.equal(await isZip(path), false);
  assert.match(String(await fileSource(path)), /is a pipe/);
});
