// Every guide has its place on the site: a page that is in no group can't be found there.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

test("every guide is in exactly one group of the site", () => {
  const groups: Record<string, string[]> = JSON.parse(readFileSync(join(root, "site", "pages.json"), "utf8"));
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  assert.deepEqual(Object.values(groups).flat().sort(), guides.map((name) => name.slice(0, -".md".length)).sort());
});
