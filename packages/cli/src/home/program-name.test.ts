import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { programName } from "./talk.ts";

test("a program that is installed is called by its name, one of a project through npx", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-path-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const project = join(folder, "node_modules", ".bin");
  const own = join(folder, "bin");
  for (const one of [project, own]) {
    mkdirSync(one, { recursive: true });
    writeFileSync(join(one, "palimpsest"), "");
  }
  assert.equal(programName({ PATH: project }), "npx palimpsest");
  assert.equal(programName({ PATH: [project, own].join(delimiter) }), "palimpsest");
  assert.equal(programName({}), "npx palimpsest");
});
