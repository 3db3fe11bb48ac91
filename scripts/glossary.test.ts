// One word for one thing, also in types: the glossary is read as a table of rules.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readGlossary, unlistedWords } from "./architecture/glossary.ts";
import { publicNames } from "./architecture/public-names.ts";
import { loadWorkspace } from "./architecture/workspace.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const glossary = readGlossary(readFileSync(join(root, "docs", "glossary.md"), "utf8"));

test("no public type says with another word what the glossary has a word for", () => {
  assert.deepEqual(unlistedWords(publicNames(loadWorkspace(root)), glossary), []);
});

test("an avoided word is found in a type's name, in the plural too, and not inside another word", () => {
  const rules = readGlossary(`
| word | means | not |
| --- | --- | --- |
| **lease** | the right to append | lock, claim check (at a counter) |
| **record** | one entry of a log | row |

| word | say |
| --- | --- |
| desk | builder |

| word | means in a name |
| --- | --- |
| row | a line of a table of figures |
`);
  const found = (type: string): string => unlistedWords({ "p/x": { values: [], types: [type] } }, rules).join();
  assert.match(found("FileLock"), /p\/x: FileLock says "lock", the glossary says "lease"/);
  assert.match(found("ClaimChecks"), /"claim check"/);
  assert.match(found("RequestDesk"), /"desk", the glossary says "builder"/);
  for (const type of ["Clock", "LabRow", "Deskless", "Lease"]) assert.equal(found(type), "", type);
});

test("the glossary rules out a good many words", () => {
  assert.ok(glossary.avoided.size > 80, `${glossary.avoided.size} words`);
});
