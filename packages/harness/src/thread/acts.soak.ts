import { test } from "node:test";
import { checkAnySequence } from "../../test/threads/acts.property.ts";

test("after any of many sequences of acts every log verifies, every head equals its fold", async () => {
  await checkAnySequence(400);
});
