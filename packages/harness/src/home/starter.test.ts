import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "./config.ts";
import { answerProblem, checkConfig, type StarterAnswers, starterConfig } from "./config-file.ts";

const ANSWERS: StarterAnswers = {
  provider: "openai",
  model: "gpt-5-mini",
  keyVariable: "OPENAI_API_KEY",
  baseUrl: null,
  window: null,
};

test("the file that config init writes is small, finds its key by a variable, and passes its own check", () => {
  const text = starterConfig(ANSWERS);
  assert.ok(text.split("\n").length < 10, text);
  assert.match(text, /api_key: \$OPENAI_API_KEY/);
  const env = { OPENAI_API_KEY: "k" };
  assert.deepEqual(checkConfig(text, { env, home: "/", exists: () => false }), []);
  const local = { ...ANSWERS, provider: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1", window: 9 } as const;
  const parsed = parseConfig(starterConfig({ ...local, keyVariable: null }), { env });
  assert.equal(parsed.kind === "config" && parsed.config.models[0]?.max_input_tokens, 9);
});

test("an answer that can't be used is told apart before anything is written; a key itself is never taken", () => {
  assert.equal(answerProblem(ANSWERS), null);
  assert.match(answerProblem({ ...ANSWERS, model: " " })!, /model is empty/);
  assert.match(answerProblem({ ...ANSWERS, keyVariable: "sk-abc-def" })!, /variable of the environment/);
  assert.match(answerProblem({ ...ANSWERS, provider: "openai-compatible" })!, /needs an address/);
  assert.match(answerProblem({ ...ANSWERS, baseUrl: "nowhere" })!, /no URL/);
});
