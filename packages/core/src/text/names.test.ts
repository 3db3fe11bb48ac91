import assert from "node:assert/strict";
import { test } from "node:test";
import { namesIn } from "./names.ts";

test("paths, file names, identifiers, long numbers and hashes are names; words and short numbers are not", () => {
  const text = "see src/app/main.ts, README.md, parseArgs and MAX_SIZE at 10443 in 5d02bd0; not 42, nor words";
  assert.deepEqual(
    [...namesIn(text).keys()],
    ["src/app/main.ts", "main.ts", "README.md", "parseArgs", "MAX_SIZE", "10443", "5d02bd0"],
  );
});

test("a name counts as often as it occurs", () => {
  assert.equal(namesIn("fooBar fooBar(fooBar)").get("fooBar"), 3);
});

test("a megabyte without a space is read like any other text", () => {
  assert.equal(namesIn("3f".repeat(500_000)).size > 0, true);
});
