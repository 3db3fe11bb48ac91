import assert from "node:assert/strict";
import { test } from "node:test";
import { aiSdkShape, anthropicShape, openaiShape, type Shape } from "../message/internal.ts";
import { chain, type NewRecord, parseRecord } from "./chain.ts";
import { emptyHead } from "./head.ts";
import { type Erasure, erase, erasedState, flatSteps, skeleton } from "./redact.ts";

const SECRET = "swordfish-4711";

const CASES: readonly [string, Shape<never>, object][] = [
  ["openai user", openaiShape, { role: "user", name: SECRET, content: SECRET }],
  [
    "openai blocks",
    openaiShape,
    {
      role: "user",
      content: [
        { type: "text", text: SECRET },
        { type: "image_url", image_url: { url: `data:image/png;base64,${SECRET}` } },
      ],
    },
  ],
  [
    "openai call",
    openaiShape,
    {
      role: "assistant",
      content: null,
      reasoning_content: SECRET,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: `{"a":"${SECRET}"}` } }],
    },
  ],
  ["openai result", openaiShape, { role: "tool", tool_call_id: "c1", content: SECRET }],
  ["openai system", openaiShape, { role: "system", content: SECRET }],
  [
    "anthropic call",
    anthropicShape,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: SECRET, signature: SECRET },
        { type: "text", text: SECRET },
        { type: "tool_use", id: "c1", name: "f", input: { a: SECRET } },
      ],
    },
  ],
  [
    "anthropic results",
    anthropicShape,
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: SECRET }] },
        { type: "tool_result", tool_use_id: "c2", content: SECRET, is_error: true },
      ],
    },
  ],
  [
    "anthropic results and words",
    anthropicShape,
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: SECRET },
        { type: "text", text: SECRET },
      ],
    },
  ],
  [
    "anthropic thinking only",
    anthropicShape,
    { role: "assistant", content: [{ type: "thinking", thinking: SECRET, signature: "s" }] },
  ],
  [
    "ai-sdk call",
    aiSdkShape,
    {
      role: "assistant",
      content: [
        { type: "text", text: SECRET, providerOptions: { x: { y: SECRET } } },
        { type: "tool-call", toolCallId: "c1", toolName: "f", input: { a: SECRET } },
      ],
    },
  ],
  [
    "ai-sdk results",
    aiSdkShape,
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "c1", toolName: "f", output: { type: "text", value: SECRET } }],
    },
  ],
] as unknown as [string, Shape<never>, object][];

for (const [name, shape, given] of CASES) {
  test(`a redacted message keeps its role and call ids and nothing it said: ${name}`, () => {
    const message = given as never;
    const erased = skeleton(shape, message);
    assert.ok(!JSON.stringify(erased).includes(SECRET), JSON.stringify(erased));
    assert.equal(shape.role(erased), shape.role(message));
    assert.deepEqual(shape.calls(erased), shape.calls(message));
    assert.deepEqual(shape.answers(erased), shape.answers(message));
    assert.ok(shape.parts(erased).length > 0);
  });
}

const AT = "2026-11-15T10:00:00.000Z";
const NOTHING: Erasure = { message: null, names: new Set(), texts: [], blocks: "named" };

function rewritten(record: Record<string, unknown>, erasure: Partial<Erasure>): string | null {
  const [chained] = chain(emptyHead(AT), [{ at: AT, runId: null, ...record } as unknown as NewRecord], (text) => text);
  const result = erase(parseRecord(chained!), chained!, { ...NOTHING, ...erasure });
  return result === null ? null : "body" in result ? `body ${result.body}` : `header ${result.header}`;
}

test("a memory block goes when it shows a fact that goes, by its id or its words, or any section", () => {
  const block = (text: string) => ({
    kind: "state",
    patch: { memory: { text, factIds: ["f1"], tokens: 9 }, title: "x" },
  });
  const shown = block("- lives in Zebrafish city");
  const gone = 'body {"memory":{"text":"[redacted]","factIds":["f1"],"tokens":9},"title":"x"}';
  assert.equal(rewritten(shown, { names: new Set(["f1"]) }), gone);
  assert.equal(rewritten(shown, { texts: ["lives in Zebrafish city"] }), gone);
  assert.equal(rewritten(shown, { blocks: "all" }), gone);
  assert.equal(rewritten(shown, { names: new Set(["f2"]), texts: ["lives in Oslo"] }), null);
  assert.equal(rewritten(block("[redacted]"), { names: new Set(["f1"]), blocks: "all" }), null, "nothing left to do");
});

test("a recorded system prompt goes when it holds the words, and a receipt of a redaction never does", () => {
  const texts = ["- lives in Zebrafish city"];
  const request = {
    kind: "event",
    event: { type: "request", hash: "h", system: `Be kind.\n\n${texts[0]}`, tools: [] },
  };
  assert.match(rewritten(request, { texts })!, /^header .*"hash":"h","system":"\[redacted\]","tools":\[\]/);
  assert.equal(rewritten(request, { texts: ["lives in Oslo since May"] }), null);
  const receipt = { kind: "event", event: { type: "redacted", target: 1, bodies: [], note: texts[0] } };
  assert.equal(rewritten(receipt, { texts }), null);
});

test("what a state repeats of a message goes, whatever keeps it; ids, states and other words stay", () => {
  const message = { seq: 3, id: "m" };
  const texts = [
    '{"todos":[{"content":"Call the Zebrafish clinic","status":"pending"}]}',
    "Call the Zebrafish clinic",
    "pending",
  ];
  const state = {
    todos: [
      { content: "Call the Zebrafish clinic", status: "pending" },
      { content: "Water the plants", status: "pending" },
    ],
    delegations: [{ description: "the Zebrafish clinic", threadId: "t-1", answer: null }],
    artifacts: ["outputs/report.md"],
  };
  assert.deepEqual(erasedState(state, { ...NOTHING, message, texts }), {
    todos: [
      { content: "[redacted]", status: "pending" },
      { content: "Water the plants", status: "pending" },
    ],
    delegations: [{ description: "[redacted]", threadId: "t-1", answer: null }],
    artifacts: ["outputs/report.md"],
  });
  assert.equal(erasedState(state, { ...NOTHING, message, texts: ["something quite different"] }), null);
});

test("evidence goes by what it names, a summary of other messages when it quotes the words", () => {
  const evidence = { kind: "evidence", of: 2, text: "in short: zebra", ids: ["f1", "t#4"], hash: "h" };
  assert.equal(rewritten(evidence, { names: new Set(["t#4"]) }), 'body "[redacted]"');
  assert.equal(rewritten(evidence, { names: new Set(["t#5"]) }), null);
  const summary = { format: "pair", text: "They live in Zebrafish city.", digest: null, state: { facts: ["x"] } };
  const record = {
    kind: "compaction",
    covers: [1, 2],
    folds: null,
    request: null,
    systems: [],
    summary,
    rung: "summarize",
    reason: "",
    tokensBefore: 9,
    tokensAfter: 3,
    archive: null,
  };
  assert.match(rewritten(record, { texts: ["live in Zebrafish city"] })!, /was erased with a redacted message/);
  assert.equal(rewritten(record, { texts: ["lives in Oslo since May"] }), null);
  assert.match(rewritten(record, { message: { seq: 2, id: "m" } })!, /was erased/);
  assert.equal(rewritten(record, { message: { seq: 3, id: "m" } }), null);
});

test("words are compared with single blanks, whatever pieces they are read in", () => {
  const text = " a\n\n b\t\u00a0c  \n\nlong wordthatgoeson\u2028 end \n";
  const whole = text.replace(/\s+/g, " ").trim();
  for (let step = 1; step <= text.length; step += 1) assert.equal(all(flatSteps(text, step)), whole, `${step}`);
});

test("looking for very long words in very many texts reads the words once", { timeout: 60_000 }, async () => {
  const texts = [all(flatSteps("erased words of a message ".repeat(200_000)))];
  const message = { seq: 3, id: "m" };
  for (let index = 0; index < 2000; index += 1) {
    const state = {
      hash: `${index}`.padStart(64, "a"),
      note: `Other words ${index}`,
      cut: "words of a message erased",
    };
    const cut = { ...state, cut: "[redacted]" };
    assert.deepEqual(erasedState(state, { ...NOTHING, message, texts }), cut);
    await new Promise((resolve) => setTimeout(resolve));
  }
});

function all<T>(steps: Generator<unknown, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
