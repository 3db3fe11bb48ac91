import { test } from "node:test";
import { checkAnySequence } from "./acts.property.ts";

test("after any sequence of acts every log verifies, every head equals its fold, replay shows what was said", async () => {
  await checkAnySequence(25);
});
