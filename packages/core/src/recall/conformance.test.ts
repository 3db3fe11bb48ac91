import assert from "node:assert/strict";
import { test } from "node:test";
import { corpus, differences } from "./conformance.ts";
import { QUESTIONS, SCOPES } from "./conformance-questions.ts";
import { MemoryIndex } from "./memory-index.ts";
import type { RecallIndex } from "./port.ts";
import { search } from "./search.ts";

test("an index that returns its candidates in another order gives the same hits", async () => {
  const reference = filled();
  const reversed: RecallIndex = {
    statistics: (scope, terms) => reference.statistics(scope, terms),
    candidates: async (scope, request) => [...(await reference.candidates(scope, request))].reverse(),
  };
  assert.deepEqual(await differences(reversed, reference), []);
});

test("an index that forgets the neighbours, miscounts or leaks another user is caught", async () => {
  const reference = filled();
  const faults: readonly RecallIndex[] = [
    {
      statistics: (scope, terms) => reference.statistics(scope, terms),
      candidates: (scope, request) => reference.candidates(scope, { ...request, reach: 0 }),
    },
    {
      statistics: async (scope, terms) => ({ ...(await reference.statistics(scope, terms)), totalLength: 1 }),
      candidates: (scope, request) => reference.candidates(scope, request),
    },
    {
      statistics: (_, terms) => reference.statistics({ kind: "user", userId: "ben" }, terms),
      candidates: (_, request) => reference.candidates({ kind: "user", userId: "ben" }, request),
    },
  ];
  for (const faulty of faults) assert.notDeepEqual(await differences(faulty, reference), []);
});

test("most questions of the suite find something, so that agreement means something", async () => {
  const index = filled();
  let found = 0;
  for (const scope of SCOPES) {
    for (const question of QUESTIONS) if ((await search(index, scope, question)).kind === "found") found += 1;
  }
  assert.ok(found > 35, String(found));
});

function filled(): MemoryIndex {
  const index = new MemoryIndex();
  for (const { entry, ...address } of corpus()) index.put(address, entry);
  return index;
}
