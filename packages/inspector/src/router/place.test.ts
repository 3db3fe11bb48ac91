import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { addressOf, placeOf, VIEWS } from "./place.ts";

test("every place has an address that leads back to it, whatever the thread is called", () => {
  const ids = fc.string({ minLength: 1, unit: "grapheme" }).filter((id) => id.isWellFormed());
  fc.assert(
    fc.property(ids, fc.string(), (id, seq) => {
      for (const view of ["window", "timeline", "chat", "map", "rules", "requests"] as const) {
        const address = new URL(addressOf(view, id, { seq }), "http://localhost");
        // A browser reads these two as steps in the path, in any spelling.
        if (/^\.{1,2}$/.test(id)) continue;
        assert.deepEqual(placeOf(address.pathname, address.search), { view, id, query: { seq } });
      }
    }),
  );
  for (const view of VIEWS) assert.equal(placeOf(addressOf(view)).view, view);
});

test("the root is the threads, and a thread alone is its window", () => {
  assert.equal(placeOf("/").view, "threads");
  assert.deepEqual(placeOf("/threads/work"), { view: "window", id: "work", query: {} });
});

test("an address that leads nowhere says so and is never an error", () => {
  for (const path of ["/nothing", "/threads/work/kitchen", "/threads/%E0%A4%A", "/memory/one", "/threads/a/window/b"])
    assert.equal(placeOf(path).view, "nowhere", path);
  fc.assert(fc.property(fc.string(), (path) => void placeOf(`/${path}`)));
});
