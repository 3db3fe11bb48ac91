import assert from "node:assert/strict";
import { test } from "node:test";
import { importQuota } from "./import.ts";

test("a user's imports of a day count together, file by file, and another user's or day's don't", () => {
  const quota = importQuota();
  let now = new Date("2026-11-18T10:00:00Z");
  const home = (userId: string) => ({ directory: "/home", userId, clock: () => now });
  const first = quota.counting(home("ada"), 10);
  for (const messages of [3, 6, 1, 2]) first(messages);
  const second = quota.counting(home("ada"), 10);
  second(2);
  assert.throws(() => second(3), { code: "import-limit" });
  // Nothing of that file was imported: a smaller one may come.
  quota.counting(home("ada"), 10)(2);
  quota.counting(home("bob"), 10)(10);
  quota.counting(home("ada"), null)(1000);
  now = new Date("2026-11-19T00:00:00Z");
  quota.counting(home("ada"), 10)(10);
});
