import assert from "node:assert/strict";
import { test } from "node:test";
import { configSchema } from "../home/schema.ts";
import { summarizationForThreads, summarizationFromOptions, summarizationOptions } from "./summarization.ts";

test("settings of a file are the same settings as options of a thread; a policy that never acts is none", () => {
  for (const summarization of [
    {},
    { enabled: true, trigger: { type: "tokens", value: 3000 }, keep: { type: "messages", value: 4 } },
    { enabled: true, trigger: { type: "fraction", value: 0.5 }, low_water: 0.4, prune: { enabled: false } },
  ]) {
    const settings = summarizationForThreads(configSchema.parse({ summarization }).summarization);
    const options = summarizationOptions({ ...settings, automatic: true });
    assert.deepEqual(summarizationFromOptions(options || {}), { ...settings, automatic: true });
  }
  const off = configSchema.parse({ summarization: { enabled: false } }).summarization;
  assert.equal(summarizationOptions(summarizationForThreads(off)), false);
});
