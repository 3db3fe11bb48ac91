// ARCHITECTURE.md promises half an hour: the files it tells a newcomer to read are there, and they stay short together.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const MAX_LINES = 900;

test(`the files under "Where to start reading" have at most ${MAX_LINES} lines, and each opens with what it owns`, () => {
  const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const section = /^## Where to start reading\n([\s\S]*?)^## /m.exec(text)?.[1] ?? "";
  const paths = [...section.matchAll(/^\d+\. .*\]\((packages\/[^)]+)\)/gm)].map(([, path]) => path!);
  assert.ok(paths.length > 4, "the list is numbered and links each file");
  const files = paths.map((path) => ({ path, source: readFileSync(join(root, path), "utf8") }));
  assert.deepEqual(
    files.filter(({ source }) => !source.startsWith("/**")).map(({ path }) => path),
    [],
  );
  const sizes = files.map(({ path, source }) => ({ path, lines: source.trimEnd().split("\n").length }));
  const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
  assert.ok(total <= MAX_LINES, `${total} lines: ${sizes.map(({ path, lines }) => `${path} ${lines}`).join(", ")}`);
});
