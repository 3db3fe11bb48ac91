import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ThreadRowText } from "../text/thread-row.ts";
import { branchesOf, filtered, idOfFile, nameOf } from "./tree.ts";

const row = (id: string, updatedAt: string, parent: string | null = null): ThreadRowText => ({
  id,
  title: null,
  messages: 1,
  updatedAt,
  parent,
  forkedAt: parent === null ? null : 1,
  kind: "main",
});

test("forks stand under their thread, and a thread is as new as its newest fork", () => {
  const shown = branchesOf([row("a", "1"), row("b", "2"), row("a-fork", "3", "a"), row("orphan", "0", "gone")]);
  assert.deepEqual(
    shown.map(({ thread, depth }) => [thread.id, depth]),
    [
      ["a", 0],
      ["a-fork", 1],
      ["b", 0],
      ["orphan", 0],
    ],
  );
});

test("forks that are called as their thread are told apart, and forks of those stand beside them", () => {
  const twin = (id: string, at: string, parent: string | null) => ({ ...row(id, at, parent), title: "Rivers" });
  const shown = branchesOf([twin("a", "1", null), twin("b", "3", "a"), twin("c", "2", "b"), row("d", "0", "c")]);
  assert.deepEqual(
    shown.map(({ thread, depth, isTwin }) => [thread.id, depth, isTwin]),
    [
      ["a", 0, false],
      ["b", 1, true],
      ["c", 1, true],
      ["d", 1, false],
    ],
  );
});

test("every thread is shown once, whatever the parents say", () => {
  const ids = fc.constantFrom("a", "b", "c", "d", "e");
  const rows = fc.uniqueArray(fc.record({ id: ids, parent: fc.option(ids), at: fc.string() }), {
    selector: ({ id }) => id,
  });
  fc.assert(
    fc.property(rows, (some) => {
      const shown = branchesOf(some.map(({ id, parent, at }) => row(id, at, parent)));
      assert.deepEqual(shown.map(({ thread }) => thread.id).toSorted(), some.map(({ id }) => id).toSorted());
    }),
  );
});

test("a dropped file gets an id that may be one and isn't taken", () => {
  assert.equal(idOfFile("My chat (1).jsonl", new Set()), "My-chat-1-");
  assert.equal(idOfFile("a.json", new Set(["a", "a-2"])), "a-3");
  assert.equal(idOfFile("….json", new Set()), "imported");
  assert.equal(nameOf({ id: "x", title: " " }), "x");
});

test("a filter finds threads by every word of their name or id", () => {
  const at = { messages: 1, updatedAt: "", parent: null, forkedAt: null, kind: "main" } as const;
  const branches = branchesOf([
    { ...at, id: "q8", title: "A garden" },
    { ...at, id: "sea", title: null },
  ]);
  const found = (text: string) => filtered(branches, text).map(({ thread }) => thread.id);
  assert.deepEqual([found("GARDEN q"), found("sea"), found("none"), found(" ").length], [["q8"], ["sea"], [], 2]);
});
