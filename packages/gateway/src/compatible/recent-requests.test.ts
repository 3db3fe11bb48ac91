import assert from "node:assert/strict";
import { test } from "node:test";
import type { CompatibleRequestFacts } from "../resources/requests.ts";
import { recentRequests } from "./outcome.ts";

const facts = (id: string, thread = "t"): CompatibleRequestFacts => ({ id, thread }) as CompatibleRequestFacts;
const idsOf = (page: { readonly requests: readonly CompatibleRequestFacts[] }) => page.requests.map(({ id }) => id);

test("the newest come first, in pages that stay the same while others come", () => {
  const recent = recentRequests();
  for (const id of ["a", "b", "c", "d", "e"]) recent.add("ada", facts(id, id === "c" ? "other" : "t"));
  const first = recent.list("ada", { limit: 2 });
  assert.deepEqual(idsOf(first), ["e", "d"]);
  recent.add("ada", facts("f"));
  const second = recent.list("ada", { limit: 2, after: first.next! });
  assert.deepEqual(idsOf(second), ["c", "b"]);
  const third = recent.list("ada", { limit: 2, after: second.next! });
  assert.deepEqual([idsOf(third), third.next], [["a"], null]);
  assert.deepEqual(idsOf(recent.list("ada", { limit: 9, thread: "other" })), ["c"]);
});

test("no user sees another's, and what is kept is bounded", () => {
  const recent = recentRequests({ ofUser: 2, ofAll: 4 });
  for (const user of ["ada", "bob", "cleo"]) for (const id of ["1", "2", "3"]) recent.add(user, facts(`${user}-${id}`));
  assert.deepEqual(idsOf(recent.list("ada", { limit: 9 })), [], "the user who asked longest ago gives way");
  assert.deepEqual(idsOf(recent.list("bob", { limit: 9 })), ["bob-3", "bob-2"]);
  assert.equal(recent.get("bob", "cleo-3"), null);
  assert.equal(recent.get("cleo", "cleo-3")?.id, "cleo-3");
  recent.forget("cleo");
  assert.equal(recent.get("cleo", "cleo-3"), null);
});
