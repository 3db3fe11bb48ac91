import assert from "node:assert/strict";
import { test } from "node:test";
import { loadEmbeddingModel, loadLanguageModel, noteUnset } from "./resolve.ts";

const surroundings = { env: {} };

test("a missing key is told with where it belongs: of a model, of the embedder, and of a variable that isn't set", async () => {
  const model = { name: "mine", provider: "openai", model: "m" } as Parameters<typeof loadLanguageModel>[0];
  await assert.rejects(loadLanguageModel(model, surroundings), /"mine" has no key: set OPENAI_API_KEY.*offline/);
  const embedder = { provider: "google", model: "e" } as const;
  await assert.rejects(loadEmbeddingModel(embedder, surroundings), (error: Error) => {
    assert.match(
      error.message,
      /"e" has no key: set GOOGLE\w+ in the environment, or `api_key` under `recall.embedder`\.$/,
    );
    return true;
  });
  const local = { ...model, provider: "openai-compatible", base_url: "http://127.0.0.1:1/v1" } as typeof model;
  await loadLanguageModel(local, surroundings);
  noteUnset(local, "MY_KEY");
  await assert.rejects(
    loadLanguageModel(local, surroundings),
    /"mine" has no key: \$MY_KEY, which its `api_key` names/,
  );
  noteUnset(embedder, "MY_KEY");
  await assert.rejects(loadEmbeddingModel(embedder, surroundings), /\$MY_KEY, which its `api_key` names, is not set/);
});
