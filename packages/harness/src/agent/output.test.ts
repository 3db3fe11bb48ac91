import assert from "node:assert/strict";
import { test } from "node:test";
import type { Script } from "@palimpsest/testing";
import { jsonSchema, Output, tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../test/agent/agent-kit.ts";

const weather = z.object({ city: z.string(), degrees: z.number() });
const KYIV = '{"city":"Kyiv","degrees":21}';

function kitOf(t: { after(work: () => unknown): void }, script: Script) {
  const look = tool({ inputSchema: z.object({}), execute: () => "21 degrees" });
  const kit = agentKit(script, { tools: { look } });
  t.after(() => kit.store.close());
  return kit;
}

test("an answer is read by the schema, typed, after the tools have run; the model is told the format", async (t) => {
  const kit = kitOf(t, [{ calls: [{ name: "look", input: {} }] }, KYIV]);
  const { output, text, end } = await kit.agent.generate({ threadId: "t", prompt: "Kyiv?", output: weather });
  const degrees: number | undefined = output?.degrees;
  assert.deepEqual([output, degrees, text, end.kind], [{ city: "Kyiv", degrees: 21 }, 21, KYIV, "answered"]);
  for (const { options } of kit.model.calls) {
    assert.equal(options.responseFormat?.type, "json");
    assert.match(JSON.stringify(options.responseFormat), /degrees/);
  }
});

const specs = [
  [
    "a JSON schema",
    jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
    KYIV,
    { city: "Kyiv", degrees: 21 },
  ],
  ["Output.object", Output.object({ schema: weather }), KYIV, { city: "Kyiv", degrees: 21 }],
  ["Output.array", Output.array({ element: weather }), `{"elements":[${KYIV}]}`, [{ city: "Kyiv", degrees: 21 }]],
  ["Output.choice", Output.choice({ options: ["sunny", "rainy"] }), '{"result":"sunny"}', "sunny"],
  ["an object in a code block", weather, `\`\`\`json\n${KYIV}\n\`\`\``, { city: "Kyiv", degrees: 21 }],
] as const;
for (const [what, output, answer, expected] of specs) {
  test(`${what} is read`, async (t) => {
    const kit = kitOf(t, [answer]);
    const result = await kit.agent.generate<unknown>({ threadId: "t", prompt: "Kyiv?", output: output as never });
    assert.deepEqual(result.output, expected);
  });
}

test("an answer that doesn't fit is sent back once, with what is wrong and the schema", async (t) => {
  const kit = kitOf(t, ["It is warm.", KYIV]);
  const { output, end } = await kit.agent.generate({ threadId: "t", prompt: "Kyiv?", output: weather });
  assert.deepEqual([output, end.kind], [{ city: "Kyiv", degrees: 21 }, "answered"]);
  assert.deepEqual(await kit.origins(), ["user", "model", "injected", "model"]);
  assert.match(JSON.stringify((await kit.said())[2]), /can't be read as the data that was asked for.*degrees/s);
  assert.equal(kit.of("output-repair").length, 1);
});

test("a second answer that doesn't fit ends the run, which says so and keeps the text", async (t) => {
  const kit = kitOf(t, ["It is warm.", '{"city":"Kyiv"}', KYIV]);
  const result = await kit.agent.stream({ threadId: "t", prompt: "Kyiv?", output: weather }).result;
  assert.equal(result.end.kind === "failed" && result.end.code, "bad-output");
  assert.match(result.error?.message ?? "", /also at the second try.*degrees/s);
  assert.deepEqual([result.text, result.output], ['{"city":"Kyiv"}', null]);
  const again = await kit.agent.generate({ threadId: "t", prompt: "Once more.", output: weather });
  assert.equal(again.output?.degrees, 21);
});

test("without a schema there is no output and no format", async (t) => {
  const kit = kitOf(t, ["warm"]);
  const { output } = await kit.agent.generate({ threadId: "t", prompt: "Kyiv?" });
  assert.equal(output, null);
  assert.equal(kit.model.calls[0]!.options.responseFormat, undefined);
});
