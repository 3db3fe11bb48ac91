import assert from "node:assert/strict";
import { test } from "node:test";
import { configSchema } from "../../home/schema.ts";
import { SUBAGENT_LIMITS, subagentsFromConfig } from "./spec.ts";

test("an empty configuration gives the limits that code has too", () => {
  const { agents, ...limits } = subagentsFromConfig(configSchema.parse({}));
  assert.deepEqual(limits, SUBAGENT_LIMITS);
  assert.deepEqual(agents, []);
});

test("[F28] an agent of the configuration has its own limits and its own model's window", async () => {
  const config = configSchema.parse({
    models: [
      { name: "large", provider: "offline", model: "large", max_input_tokens: 200_000 },
      { name: "small", provider: "offline", model: "small", max_input_tokens: 9000, max_output_tokens: 500 },
    ],
    subagents: {
      max_concurrent: 5,
      agents: {
        sorter: {
          description: "sorts",
          tools: ["bash"],
          model: "small",
          max_turns: 7,
          timeout_seconds: 5,
          token_budget: 99,
        },
        plain: { description: "as its parent" },
      },
    },
  });
  const { agents, maxConcurrent } = subagentsFromConfig(config, "large");
  assert.equal(maxConcurrent, 5);
  const [sorter, plain] = agents;
  const { maxTurns, timeoutSeconds, tokenBudget, tools } = sorter!;
  assert.deepEqual([maxTurns, timeoutSeconds, tokenBudget, tools], [7, 5, 99, ["bash"]]);
  const windows = await Promise.all(
    [sorter!, plain!].map(async ({ model }) => (typeof model === "function" ? (await model()).window : null)),
  );
  assert.deepEqual(windows, [9000, 200_000]);
});
