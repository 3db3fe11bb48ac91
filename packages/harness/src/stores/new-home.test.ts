import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "./open.ts";

test("a store in a program makes no home: a path in one that isn't there is refused, and nothing is left behind", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-home-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const home = join(folder, ".palimpsest");
  for (const access of ["read", "write"] as const)
    await assert.rejects(openStore(join(home, "palimpsest.db"), { access }), /would be a home, and there is none/);
  assert.ok(!existsSync(home));
  mkdirSync(home);
  await (await openStore(join(home, "palimpsest.db"))).close();
});
