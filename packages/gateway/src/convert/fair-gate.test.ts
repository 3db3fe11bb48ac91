import assert from "node:assert/strict";
import { test } from "node:test";
import { fairGate } from "./convert-apart.ts";

test("one user's work waits behind itself, not before another's", async () => {
  const gate = fairGate({ most: 2, mostPerUser: 1 });
  const { signal } = new AbortController();
  const order: string[] = [];
  const enter = (userId: string, name: string) =>
    gate.enter(userId, signal).then((leave) => {
      order.push(name);
      return leave;
    });
  const first = await enter("a", "a1");
  const second = enter("a", "a2");
  const other = await enter("b", "b1");
  assert.deepEqual(order, ["a1", "b1"]);
  first();
  (await second)();
  other();
  other();
  assert.deepEqual(order, ["a1", "b1", "a2"]);
});
