import assert from "node:assert/strict";
import { test } from "node:test";
import { OFFLINE } from "palimpsest/internal/models";
import { anthropicMessages } from "./anthropic/vendor.ts";
import { openaiChat } from "./openai-chat.ts";
import { type ProviderKey, targetOf } from "./policy.ts";

const MODELS = (["openai", "anthropic", "openai-compatible"] as const).map((provider) => ({
  ...OFFLINE,
  name: `our-${provider}`,
  provider,
  model: `m-${provider}`,
  api_key: "the operator's",
}));
const TABLE = { models: MODELS, fallbackWindow: 1000, env: {} };
const theirs = (by: ProviderKey["by"], only: boolean): ProviderKey => ({ key: "the client's", by, only });

for (const [title, vendor, model, providerKey, expected] of [
  ["no key of a client: the operator's", openaiChat, "our-openai", null, "the operator's"],
  ["a forwarded key at its own vendor", openaiChat, "our-openai", theirs("forwarded", true), "the client's"],
  ["a forwarded key never goes to another vendor", openaiChat, "our-anthropic", theirs("forwarded", true), null],
  ["nor to whoever speaks the protocol", openaiChat, "our-openai-compatible", theirs("forwarded", true), null],
  ["a vendor's other models too", openaiChat, "unlisted", theirs("forwarded", true), "the client's"],
  ["and not those of another", anthropicMessages, "our-openai", theirs("forwarded", true), null],
  ["a user of ours keeps the rest", openaiChat, "our-anthropic", theirs("forwarded", false), "the operator's"],
  ["a key named for a request is for its model", openaiChat, "our-anthropic", theirs("named", true), "the client's"],
  ["a model nobody lists", openaiChat, "unlisted", null, null],
] as const) {
  test(`whose key is spent: ${title}`, () => {
    assert.equal(targetOf(vendor, { model, providerKey }, TABLE)?.key ?? null, expected);
  });
}
