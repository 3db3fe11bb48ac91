import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ownersIn, ownNames, problemWith } from "./published-names.ts";

const root = join(import.meta.dirname, "..");

test("a name that another account has published is a problem; a free one and our own are not", () => {
  assert.equal(problemWith("palimpsest", "nobody", null), null);
  assert.equal(problemWith("palimpsest", ["ada", "ben"], "ada"), null);
  assert.match(problemWith("palimpsest", ["eve"], "ada") ?? "", /palimpsest is published by eve, not by ada/);
  assert.match(problemWith("palimpsest", ["ada"], null) ?? "", /nobody is logged in/);
  assert.deepEqual(ownersIn('["ada <a@b.c>", "ben <b@b.c>"]'), ["ada", "ben"]);
  assert.deepEqual(ownersIn('"ada <a@b.c>"'), ["ada"]);
});

test("every package that is to be published is asked about", () => {
  const names = ownNames(root);
  assert.ok(names.includes("palimpsest") && names.includes("@palimpsest/cli"), names.join());
  assert.ok(!names.some((name) => name.includes("inspector")));
});

test("every page that installs one of our packages says that they aren't published yet, and what to do", () => {
  const pages = ["README.md", "docs/*.md", "packages/*/README.md"].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  const silent = pages.filter((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const installs = /npm (?:install|i)(?: --?\S+)* (?:palimpsest|@palimpsest\/)/.test(text);
    return installs && !/not published yet/i.test(text);
  });
  assert.deepEqual(silent, []);
});
