// `[F12]` in a test's title cites a note: the note must be there, and be numbered as it is cited.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadWorkspace } from "./architecture/workspace.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const notes = [...readFileSync(join(root, "docs/field-notes.md"), "utf8").matchAll(/^(\d+)\. /gm)].map(([, n]) =>
  Number(n),
);
const cited = new Set(
  loadWorkspace(root).files.flatMap(({ text }) => [...text.matchAll(/\[F(\d+)\]/g)].map(([, n]) => Number(n))),
);

test("the field notes are numbered without a gap", () => {
  assert.deepEqual(
    notes,
    notes.map((_, index) => index + 1),
  );
});

test("every note that is cited is in docs/field-notes.md, and most notes are held by a test", () => {
  assert.deepEqual(
    [...cited].filter((n) => !notes.includes(n)),
    [],
  );
  assert.ok(cited.size >= 0.9 * notes.length, `${cited.size} of ${notes.length} are cited`);
});
