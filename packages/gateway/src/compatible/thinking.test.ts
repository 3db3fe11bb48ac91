import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { beforeProvider } from "../../test/before-provider.ts";

const CLIENTS: Readonly<Record<string, (content: Anthropic.ContentBlock[]) => Anthropic.ContentBlock[]>> = {
  "keeps its thinking": (content) => content,
  "drops its thinking": (content) => content.filter(({ type }) => type !== "thinking"),
};

for (const [name, keep] of Object.entries(CLIENTS))
  test(`a model that binds its thinking never refuses a client that ${name}, before and after compactions`, async (t) => {
    const { url, provider } = await beforeProvider(t, {
      window: 4000,
      binding: "prefix",
      respond: ({ index }) => ({
        reasoning: `Thought ${index}.`,
        text: `answer ${index}: ${"sand and shell. ".repeat(12)}`,
      }),
    });
    const client = new Anthropic({ apiKey: "any", baseURL: url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    const views = new Set<string | null>();
    for (let turn = 1; turn <= 44; turn += 1) {
      messages.push({ role: "user", content: `Question ${turn}: ${"how deep is it there? ".repeat(turn % 9)}` });
      const { data, response } = await client.messages
        .create({ model: "bound", max_tokens: 500, system: "Answer.", thinking: { type: "adaptive" }, messages })
        .withResponse();
      views.add(response.headers.get("x-palimpsest-view"));
      messages.push({ role: "assistant", content: keep(data.content) });
    }
    assert.deepEqual([...views], ["verbatim", "compacted"]);
    const verdicts = provider.requests.map(({ verdict }) => verdict.kind);
    assert.deepEqual(new Set(verdicts), new Set(["answered"]));
    const thoughts = provider.requests.map(
      ({ turns }) => turns.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "reasoning").length,
    );
    assert.ok(thoughts[3]! >= 3, `thoughts that are valid are sent: ${thoughts.join()}`);
    assert.ok(thoughts.at(-1)! >= 1, `also behind a compaction: ${thoughts.join()}`);
  });
