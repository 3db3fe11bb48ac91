// A provider that redirects: the other server gets neither words nor keys, the client a 502 without an address, the log the address.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createKey } from "palimpsest/internal/key-operations";
import { ask, CHAT, MESSAGES, RESPONSES, user } from "../../test/asking.ts";
import { noting } from "../../test/http-server.ts";
import { running, sent } from "../../test/running.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Each protocol by a provider that speaks it and by one that doesn't. */
const ROWS = [
  [CHAT, "gpt"],
  [CHAT, "claude"],
  [MESSAGES, "claude"],
  [MESSAGES, "gpt"],
  [RESPONSES, "gpt"],
  [RESPONSES, "claude"],
] as const;

for (const [path, model] of ROWS)
  test(`a redirect of the model ${model} on ${path} is a 502 without an address, and nothing is sent there`, async (t) => {
    const { url: base, elsewhere, stolen } = await redirecting(t);
    const entry = (name: string, provider: string) =>
      `  - {name: ${name}, provider: ${provider}, model: ${name}, base_url: "${base}/v1", api_key: operators}\n`;
    const served = await running(t, { config: `models:\n${entry("gpt", "openai")}${entry("claude", "anthropic")}` });
    for (const stream of [false, true])
      for (const mode of ["on", "off"]) {
        const headers = { "x-palimpsest-mode": mode };
        const heard = await ask(served.url, [user("secret words")], { path, headers, body: { model, stream } });
        assert.deepEqual([heard.status, heard.headers.get("location")], [502, null], `${stream} ${mode}`);
        assert.match(heard.text, /redirected/);
        assert.doesNotMatch(heard.text, /127\.0\.0\.1/);
        assert.ok(served.lines.at(-1)?.error?.includes(elsewhere), "the log names the address");
      }
    assert.deepEqual(stolen, []);
  });

test("a redirect of what is passed on is a 502 without an address", async (t) => {
  const { url: base, stolen } = await redirecting(t);
  const config = `models:\n  - {name: gpt, provider: openai, model: gpt, base_url: "${base}", api_key: operators}\n`;
  const served = await running(t, { config });
  const body = JSON.stringify({ model: "gpt", input: "secret words" });
  const { status, headers } = await sent(served, "/v1/embeddings", { method: "POST", headers: JSON_TYPE, body });
  assert.deepEqual([status, headers["location"], stolen], [502, undefined, []]);
});

test("a run whose provider redirects ends as redirected; the person at the machine hears the address, a user of a key doesn't", async (t) => {
  const { url: base, elsewhere, stolen } = await redirecting(t);
  const config = `models:\n  - {name: gpt, provider: openai, model: gpt, base_url: "${base}", api_key: operators}\ntitle: {enabled: false}\n`;
  const served = await running(t, { config });
  const body = JSON.stringify({ prompt: "secret words" });
  const own = await sent(served, "/api/threads/own/runs", { method: "POST", headers: JSON_TYPE, body });
  assert.deepEqual([own.status, JSON.parse(own.text).error.code], [502, "redirected"]);
  assert.ok(own.text.includes(elsewhere), own.text);
  const who = { user: "ada", role: "user", expiresAt: null } as const;
  const { key } = await createKey(served.home.store.keys!, who, new Date());
  const headers = { ...JSON_TYPE, authorization: `Bearer ${key}` };
  const { status, text } = await sent(served, "/api/threads/t/runs", { method: "POST", headers, body });
  assert.deepEqual([status, JSON.parse(text).error.code, stolen], [502, "redirected", []]);
  assert.doesNotMatch(text, /127\.0\.0\.1/);
});

/** A provider, and a server that nobody configured, to which it redirects. */
async function redirecting(t: TestContext) {
  const { url: other, seen: stolen } = await noting(t);
  const elsewhere = `${other}/stolen`;
  const { url } = await noting(t, { status: 307, headers: { location: elsewhere } });
  return { url, elsewhere, stolen };
}
