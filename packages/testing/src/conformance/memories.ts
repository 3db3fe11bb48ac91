/** Memory documents: one row for each user and agent, written by compare-and-set. */
import assert from "node:assert/strict";
import { type CasesWith, freshId } from "./kit.ts";

export const memoryCases: CasesWith<"memories"> = {
  "a document is read back as it was written, by another connection too, and is nobody else's": async (suite) => {
    const { memories } = suite.store();
    const userId = freshId();
    const row = { revision: 1, document: '{ "z": 1.0, "a": "Ümlaut \\u0000 😀" }' };
    assert.deepEqual([await memories.get(userId, ""), await memories.revision(userId, "")], [undefined, 0]);
    assert.equal(await memories.put(userId, "", row, 0), "saved");
    const other = await suite.connect();
    assert.deepEqual(await other.memories.get(userId, ""), row);
    assert.equal(await other.memories.revision(userId, ""), 1);
    assert.equal(await other.memories.get(userId, "coder"), undefined);
    await other.close();
  },

  "[F52] a document is written only over the revision that was read": async (suite) => {
    const { memories } = suite.store();
    const userId = freshId();
    const save = (revision: number, expect: number) =>
      memories.put(userId, "coder", { revision, document: `{"revision":${revision}}` }, expect);
    assert.deepEqual([await save(2, 1), await save(1, 0), await save(1, 0)], ["conflict", "saved", "conflict"]);
    assert.deepEqual([await save(2, 1), await save(2, 1)], ["saved", "conflict"]);
    const results = await Promise.all([3, 4, 5].map((revision) => save(revision, 2)));
    assert.deepEqual(results.toSorted(), ["conflict", "conflict", "saved"]);
  },

  "whose memories there are is listed by user and agent, page by page": async (suite) => {
    const { memories } = suite.store();
    const userId = freshId();
    for (const agentName of ["", "b", "a"]) await memories.put(userId, agentName, { revision: 1, document: "{}" }, 0);
    const keys = [];
    for (let page = await memories.list(); page.length > 0; page = await memories.list(page.at(-1))) keys.push(...page);
    const own = keys.filter((key) => key.userId === userId);
    assert.deepEqual(
      own.map(({ agentName }) => agentName),
      ["", "a", "b"],
    );
  },
};
