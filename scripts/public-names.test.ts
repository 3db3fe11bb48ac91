// A public name is a promise: adding or losing one must show in the diff of the committed list.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { exportsOf } from "./architecture/imports.ts";
import { publicNames } from "./architecture/public-names.ts";
import { loadWorkspace } from "./architecture/workspace.ts";

const scripts = dirname(fileURLToPath(import.meta.url));
const workspace = loadWorkspace(join(scripts, ".."));

test("the public names are those in scripts/public-names.json (run `npm run public-names` and look at the diff)", () => {
  const committed: unknown = JSON.parse(readFileSync(join(scripts, "public-names.json"), "utf8"));
  assert.deepEqual(publicNames(workspace), committed);
});

test("the values listed are those the modules have at run time", async () => {
  for (const [specifier, { values }] of Object.entries(publicNames(workspace))) {
    const module: Record<string, unknown> = await import(specifier);
    assert.deepEqual(Object.keys(module).sort(), [...values], specifier);
  }
});

test("every spelling of an export is read", () => {
  const names = exportsOf(
    [
      "export const a = 1;",
      "export async function b() {}",
      "export type { C, D as E } from './c.ts';",
      "export { type F, g as h } from './f.ts';",
      "export interface I {}",
      "export class J {}",
      "// export const hidden = 1;",
    ].join("\n"),
  );
  assert.deepEqual(names.values, ["J", "a", "b", "h"]);
  assert.deepEqual(names.types, ["C", "E", "F", "I"]);
});
