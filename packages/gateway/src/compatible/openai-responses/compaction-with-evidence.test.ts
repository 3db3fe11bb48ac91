import assert from "node:assert/strict";
import { test } from "node:test";
import type OpenAI from "openai";
import { beforeProvider } from "../../../test/before-provider.ts";
import { openaiAt } from "../../../test/held-suite.ts";

const EVIDENCE = "gateway: {evidence: true}\nmemory: {enabled: false}\n";

for (const model of ["gpt", "claude"])
  test(`a request on ${model} that is compacted and shown evidence has its compaction in the answer`, async (t) => {
    const { url, provider } = await beforeProvider(t, { config: EVIDENCE, respond: ({ index }) => `answer ${index}` });
    const client = openaiAt(url);
    let previous: string | null = null;
    for (let turn = 1; turn <= 12; turn += 1) {
      const words = turn === 1 ? "The password of the boathouse is swordfish. " : `question ${turn} `;
      const input = words + "is it deep there? ".repeat(20);
      const answer: OpenAI.Responses.Response = await client.responses.create({
        model,
        input,
        previous_response_id: previous,
      });
      previous = answer.id;
    }
    const { data, response } = await client.responses
      .create({
        model,
        input: "What was the password of the boathouse?",
        previous_response_id: previous,
        context_management: [{ type: "compaction", compact_threshold: 500 }],
      })
      .withResponse();
    assert.ok(Number(response.headers.get("x-palimpsest-evidence")) > 0);
    assert.match(JSON.stringify(provider.requests.at(-1)!.turns.at(-1)), /<evidence>.*swordfish/);
    assert.deepEqual(
      data.output.map(({ type }) => type),
      ["compaction", "message"],
    );
  });
