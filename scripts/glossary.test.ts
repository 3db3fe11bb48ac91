// One word for one thing, also in types: the glossary is read as a table of rules.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bareNames, readGlossary, unlistedWords } from "./architecture/glossary.ts";
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

test("a parameter that names a thread, a user or an agent says so: threadId, userId, agentName", () => {
  assert.deepEqual(loadWorkspace(root).files.flatMap(bareNames), []);
  const inText = (text: string) => bareNames({ path: "x.ts", text }).length;
  for (const text of [
    "f = (thread: string) => 1",
    "type F = (user?: string) => void",
    "interface I { f(agent: string | null): 1 }",
  ])
    assert.equal(inText(text), 1, text);
  for (const text of ["f = (thread: Thread) => 1", "interface Header { user: string }", "f = (threadId: string) => 1"])
    assert.equal(inText(text), 0, text);
});

test("the glossary rules out a good many words", () => {
  assert.ok(glossary.avoided.size > 80, `${glossary.avoided.size} words`);
});
