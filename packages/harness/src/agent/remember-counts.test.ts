import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { rememberCounts } from "./model.ts";

test("a text is counted once while it is remembered, and always the same", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 12 }), { maxLength: 60 }), (texts) => {
      const count = rememberCounts((text) => text.length * 3 + 1, 64);
      for (const text of texts) assert.equal(count(text), text.length * 3 + 1);
    }),
  );
});

test("what was asked for longest ago is forgotten first, and a huge text is not kept at all", () => {
  const asked: string[] = [];
  const count = rememberCounts((text) => asked.push(text), 40);
  for (const text of ["aaaaaaaaaa", "bbbbbbbbbb", "aaaaaaaaaa", "cccccccccc", "dddddddddd"]) count(text);
  assert.deepEqual(
    asked.map((text) => text[0]),
    ["a", "b", "c", "d"],
  );
  count("eeeeeeeeee");
  count("aaaaaaaaaa");
  count("bbbbbbbbbb");
  assert.deepEqual(
    asked.map((text) => text[0]),
    ["a", "b", "c", "d", "e", "b"],
  );
  count("x".repeat(11));
  count("x".repeat(11));
  assert.equal(asked.length, 8);
});

test("agents made one after the other count each text once between them", async (t) => {
  const asked: string[] = [];
  const counter = (text: string): number => {
    asked.push(text);
    return Math.ceil(text.length / 4);
  };
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  for (const prompt of ["First question.", "Second question."]) {
    const { agent } = agentKit(["An answer."], { store, counter });
    await agent.generate({ threadId: "t", prompt });
  }
  assert.ok(asked.includes("First question.") && asked.includes("Second question."));
  assert.equal(new Set(asked).size, asked.length);
});
