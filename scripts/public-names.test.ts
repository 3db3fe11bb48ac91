// A public name is a promise: adding or losing one must show in the diff of the committed list.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { exportsOf } from "./architecture/imports.ts";
import { crowdedSubpaths, publicNames } from "./architecture/public-names.ts";
import { loadWorkspace, type Package, type Workspace } from "./architecture/workspace.ts";

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

test("no subpath has more than 15 values, and all of them together at most 120", () => {
  assert.deepEqual(crowdedSubpaths(workspace), []);
});

test("a crowded subpath and too many values in all are found; types, namespaces and internal names don't count", () => {
  const values = (count: number) => Array.from({ length: count }, (_, n) => `export const v${n} = ${n};`).join("\n");
  assert.deepEqual(
    crowdedSubpaths(made({ "./log": `${values(15)}\nexport type T = 1;\nexport * as x from "./x.ts";` })),
    [],
  );
  assert.match(crowdedSubpaths(made({ "./log": values(16) })).join(), /core\/log exports 16 values, at most 15/);
  assert.deepEqual(crowdedSubpaths(made({ "./internal/log": values(200) })), []);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`./p${n}`, values(14)]));
  assert.match(crowdedSubpaths(made(many)).join(), /^126 public values in all, at most 120/);
});

function made(subpaths: Readonly<Record<string, string>>): Workspace {
  const path = (subpath: string) => `packages/core/src/${subpath.slice(2)}.ts`;
  const exports = new Map(Object.keys(subpaths).map((subpath) => [subpath, path(subpath)]));
  const core: Package = { folder: "core", name: "@palimpsest/core", rank: 0, exports };
  const files = Object.entries(subpaths).map(([subpath, text]) => ({ path: path(subpath), package: core, text }));
  return { packages: [core], files };
}

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
