import assert from "node:assert/strict";
import { test } from "node:test";
import { bindsReasoning } from "./facts.ts";

const MODELS: readonly (readonly [string, boolean])[] = [
  ["claude-fable-5-1", true],
  ["claude-opus-5-5", true],
  ["anthropic/claude-sonnet-5.5", true],
  ["us.anthropic.claude-haiku-5-5-20261001-v1:0", true],
  ["claude-opus-6", true],
  ["claude-opus-5", false],
  ["claude-opus-5-20260401", false],
  ["claude-opus-4-8", false],
  ["claude-sonnet-4-5-20250929", false],
  ["claude-3-7-sonnet-20250219", false],
  ["claude-mythos-preview", false],
  ["gpt-5.5", false],
];

for (const [model, binds] of MODELS) {
  test(`${model} ${binds ? "binds" : "doesn't bind"} its reasoning to what came before it`, () => {
    assert.equal(bindsReasoning(model), binds);
  });
}
