import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProblemError } from "../http/problem.ts";
import { unpackingRoom } from "./import.ts";

test("archives at work hold two of the longest values at most; the next one is told to come again", () => {
  const room = unpackingRoom();
  const [first, second, third] = [room.place(100), room.place(100), room.place(100)];
  first.take(5000);
  second.take(90);
  assert.throws(
    () => third.take(11),
    (error: ProblemError) => {
      const { status, code, headers } = error.problem;
      assert.deepEqual([status, code, headers], [503, "unpacking", { "retry-after": "5" }]);
      return true;
    },
  );
  room.place(100).take(10);
  third.leave();
  assert.throws(() => third.take(1), { code: "unpacking" });
  first.leave();
  first.leave();
  third.take(100);
  assert.throws(() => second.take(1), { code: "unpacking" });
});
