import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { beforeProvider } from "../../../test/before-provider.ts";

const clientOf = (url: string, apiKey = "any") => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

test("a response is gone on from by its id, on a provider of its own vendor and of another, and the provider gets the whole conversation", async (t) => {
  const { url, provider, home } = await beforeProvider(t, { respond: ({ turns }) => `heard ${turns.length}` });
  const client = clientOf(url);
  for (const model of ["gpt", "claude", "local"]) {
    let previous: string | null = null;
    for (const [turn, question] of ["one", "two", "three"].entries()) {
      const asked: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
        model,
        input: `${question} for ${model}`,
        previous_response_id: previous,
      };
      const answer: OpenAI.Responses.Response = await client.responses.create(asked);
      assert.equal(answer.output_text, `heard ${2 * turn + 1}`, `${model} ${turn}`);
      assert.equal(answer.previous_response_id, previous);
      const again = await client.responses.retrieve(answer.id);
      assert.deepEqual([again.id, again.status, again.output], [answer.id, "completed", answer.output]);
      previous = answer.id;
    }
    const items = await client.responses.inputItems.list(previous!, { order: "asc", limit: 2 });
    const texts: string[] = [];
    for await (const item of items)
      texts.push("content" in item ? String((item.content as { text: string }[])[0]!.text) : "");
    assert.deepEqual(texts, [`one for ${model}`, "heard 1", `two for ${model}`, "heard 3", `three for ${model}`]);
  }
  assert.ok(provider.requests.every(({ verdict }) => verdict.kind === "answered"));
  assert.equal((await home.store.threads()).threads.length, 3);
});

test("going on twice from one response is a fork, and both futures stay", async (t) => {
  const { url, home } = await beforeProvider(t, { respond: ({ index }) => `answer ${index}` });
  const client = clientOf(url);
  const first = await client.responses.create({ model: "gpt", input: "begin" });
  const [left, right] = [
    await client.responses.stream({ model: "gpt", input: "left", previous_response_id: first.id }).finalResponse(),
    await client.responses.stream({ model: "gpt", input: "right", previous_response_id: first.id }).finalResponse(),
  ];
  assert.notEqual(left.id, right.id);
  const last = await client.responses.create({ model: "gpt", input: "and?", previous_response_id: left.id });
  const said = async (id: string) => {
    const texts: string[] = [];
    for await (const item of client.responses.inputItems.list(id, { order: "asc" }))
      texts.push(JSON.stringify(item).match(/"text":"([^"]*)"/)![1]!);
    return texts;
  };
  assert.deepEqual(await said(last.id), ["begin", "answer 0", "left", "answer 1", "and?"]);
  assert.deepEqual(await said(right.id), ["begin", "answer 0", "right"]);
  assert.equal((await home.store.threads()).threads.length, 2);
});
