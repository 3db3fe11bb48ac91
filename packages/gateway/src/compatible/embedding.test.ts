// The embedder of the configuration on the compatible endpoints: what it is asked for, who pays, and that it may fail.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startEmbeddingsServer } from "@palimpsest/testing/internal/embeddings-server";
import { createKey } from "palimpsest/internal/key-operations";
import { ask, talk, user } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";

const SECRET = "The boathouse password is swordfish.";
const QUESTION = "Which password has the boathouse?";

/** After the first turn nothing that a search could look for. */
const said = (turn: number): string => (turn === 1 ? SECRET : "And is it so, or not? ".repeat(40));

async function embedding(t: TestContext, settings: string) {
  const embeddings = await startEmbeddingsServer("swordfish");
  t.after(() => embeddings.close());
  const entry = `{provider: openai-compatible, model: e, base_url: "${embeddings.url}", api_key: k}`;
  const served = await beforeProvider(t, {
    window: 4000,
    respond: ({ index }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`,
    config: `memory: {enabled: false}\nrecall: {embedder: ${entry}}\n${settings}`,
  });
  return { served, embeddings };
}

test("what is looked up for a question at /v1 is compared by the configured embedder too, and the thread pays for it", async (t) => {
  const { served, embeddings } = await embedding(t, "gateway: {evidence: true}\n");
  const behind = embeddings.asked("Answer 19:");
  const { messages, heard } = await talk(served.url, 20, { question: said });
  assert.equal(heard.at(-1)!.header("view"), "compacted");
  await behind;
  assert.ok(embeddings.texts.includes(SECRET), "what was said gets its vector");
  const asked = () => ask(served.url, [...messages, user(QUESTION)]);
  let answer = await asked();
  assert.match(JSON.stringify(served.provider.requests.at(-1)!.turns.at(-1)), /swordfish/);
  // The question is compared with it. On a machine that stood still for two seconds it is answered by words alone.
  while (!embeddings.texts.includes(QUESTION)) answer = await asked();
  await served.gateway.close();
  const { calls, usage } = (await served.home.charges(answer.header("thread")!)).embeddings;
  assert.ok(calls > 1);
  assert.ok(usage.input > 0);
});

test("an embedder that fails takes nothing from a request at /v1 but its order of what is found", async (t) => {
  const { served, embeddings } = await embedding(t, "gateway: {evidence: true}\n");
  embeddings.fail(401);
  const { messages } = await talk(served.url, 20, { question: said });
  const answer = await ask(served.url, [...messages, user(QUESTION)]);
  assert.equal(answer.status, 200);
  assert.match(JSON.stringify(served.provider.requests.at(-1)!.turns.at(-1)), /swordfish/);
});

test("nothing is embedded unless evidence is asked for", async (t) => {
  const { served, embeddings } = await embedding(t, "");
  await talk(served.url, 3, { question: said });
  await served.gateway.close();
  assert.deepEqual(embeddings.texts, []);
});

test("nothing is embedded for who has shown nothing but a provider's key", async (t) => {
  const { served, embeddings } = await embedding(t, "gateway: {evidence: true, forward_keys: true}\n");
  await createKey(served.home.store.keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
  const headers = { authorization: "Bearer sk-of-a-client" };
  const { heard } = await talk(served.url, 3, { question: said, headers });
  assert.equal(heard.at(-1)!.header("match"), "extended");
  await served.gateway.close();
  assert.deepEqual(embeddings.texts, []);
});
