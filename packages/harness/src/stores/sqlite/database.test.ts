import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** Prints whether SQLite is loaded, before and after a store asked for it. */
const PROGRAM = `
  const loaded = () => process.moduleLoadList.includes("NativeModule sqlite");
  const { createAgent } = await import("palimpsest");
  await import("palimpsest/assistant");
  const { openStore } = await import("palimpsest/stores");
  const before = loaded();
  const store = await openStore(":memory:");
  console.log(JSON.stringify({ before, after: loaded(), agent: typeof createAgent }));
  await store.close();
`;

test("a program that opens no SQLite store doesn't load SQLite", async () => {
  const args = ["--conditions=palimpsest-source", "--input-type=module", "--eval", PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  assert.deepEqual(JSON.parse(stdout), { before: false, after: true, agent: "function" });
});
