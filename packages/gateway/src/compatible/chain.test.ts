import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { DIALECTS, type Dialect, responsesTurns, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { chainOf, chainStateAt, chainSteps, hashBefore, keyed, START } from "./match.ts";

const SECRET = "a secret of this test";
type Raw = Record<string, unknown>;

function hashes(dialect: Dialect, messages: readonly Raw[]): string[] {
  const shape = shapeOf(dialect) as unknown as Shape<unknown>;
  const given = dialect === "openai-responses" ? responsesTurns(messages as never) : messages;
  return chainOf(given as readonly unknown[], { shape, secret: SECRET }).places.map(({ hash }) => hash);
}

const last = (dialect: Dialect, messages: readonly Raw[]) => hashes(dialect, messages).at(-1);
const call = (id: string, text: string) => ({ id, type: "function", function: { name: "f", arguments: text } });
const PNG = "iVBORw0KGgo=";

/** Two spellings of one conversation. */
const ALIKE: readonly (readonly [string, Dialect, readonly Raw[], readonly Raw[]])[] = [
  [
    "a system prompt that changes with every request, also from the developer",
    "openai",
    [
      { role: "system", content: "It is Monday." },
      { role: "user", content: "hi" },
    ],
    [
      { role: "developer", content: "It is Tuesday." },
      { role: "system", content: "cch=1" },
      { role: "user", content: "hi" },
    ],
  ],
  [
    "a string and one text block, with a mark for the prompt cache",
    "openai",
    [{ role: "user", content: "hi" }],
    [{ role: "user", content: [{ type: "text", text: "hi", prompt_cache_breakpoint: {} }] }],
  ],
  [
    "null, empty and absent fields",
    "openai",
    [{ role: "assistant", content: null, refusal: null, annotations: [], tool_calls: [call("a", "{}")] }],
    [{ role: "assistant", tool_calls: [call("a", "{}")] }],
  ],
  [
    "arguments spelled otherwise, and other ids",
    "openai",
    [{ role: "assistant", content: null, tool_calls: [call("a", '{"x":1,"y":[2]}')] }],
    [{ role: "assistant", content: "", tool_calls: [call("b", '{ "y": [2.0], "x": 1 }')] }],
  ],
  [
    "reasoning that was dropped",
    "openai",
    [{ role: "assistant", content: "yes", reasoning_content: "hm" }],
    [{ role: "assistant", content: "yes" }],
  ],
  [
    "results in another order than their calls",
    "openai",
    [
      { role: "assistant", content: null, tool_calls: [call("a", "{}"), call("b", "{}")] },
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "two" },
      { role: "assistant", content: "done" },
    ],
    [
      { role: "assistant", content: null, tool_calls: [call("x", "{}"), call("y", "{}")] },
      { role: "tool", tool_call_id: "y", content: "two" },
      { role: "tool", tool_call_id: "x", content: [{ type: "text", text: "one" }] },
      { role: "assistant", content: "done" },
    ],
  ],
  [
    "thinking that was dropped, and cache marks that moved",
    "anthropic",
    [
      { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "redacted_thinking", data: "x" },
          { type: "text", text: "yes" },
        ],
      },
    ],
    [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "text", text: "yes", cache_control: { type: "ephemeral" } }] },
    ],
  ],
  [
    "an image by its bytes",
    "openai",
    [
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "high" } }],
      },
    ],
    [{ role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }] }],
  ],
  [
    "ids and states that the server gave to items",
    "openai-responses",
    [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
      {
        type: "message",
        id: "msg_1",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "yes", annotations: [] }],
      },
    ],
    [
      { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
      { role: "assistant", content: "yes" },
    ],
  ],
];

for (const [title, dialect, one, other] of ALIKE)
  test(`a conversation is known again whatever its client changed: ${title}`, () => {
    assert.equal(last(dialect, one), last(dialect, other));
  });

const DIFFERENT: readonly (readonly [string, Dialect, readonly Raw[], readonly Raw[]])[] = [
  ["other words", "openai", [{ role: "user", content: "hi" }], [{ role: "user", content: "hi " }]],
  ["another speaker", "openai", [{ role: "user", content: "hi" }], [{ role: "assistant", content: "hi" }]],
  [
    "one text in two",
    "openai",
    [{ role: "user", content: "ab" }],
    [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
    ],
  ],
  [
    "a system message in the middle",
    "openai",
    [
      { role: "user", content: "a" },
      { role: "system", content: "b" },
    ],
    [
      { role: "user", content: "a" },
      { role: "system", content: "c" },
    ],
  ],
  [
    "other arguments",
    "openai",
    [{ role: "assistant", content: null, tool_calls: [call("a", '{"x":1}')] }],
    [{ role: "assistant", content: null, tool_calls: [call("a", '{"x":2}')] }],
  ],
  [
    "results of the calls exchanged",
    "openai",
    [
      { role: "assistant", content: null, tool_calls: [call("a", "{}"), call("b", "{}")] },
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "two" },
    ],
    [
      { role: "assistant", content: null, tool_calls: [call("a", "{}"), call("b", "{}")] },
      { role: "tool", tool_call_id: "a", content: "two" },
      { role: "tool", tool_call_id: "b", content: "one" },
    ],
  ],
];

for (const [title, dialect, one, other] of DIFFERENT)
  test(`conversations that differ are told apart: ${title}`, () => {
    assert.notEqual(last(dialect, one), last(dialect, other));
  });

test("a hash can't be made without the secret", () => {
  assert.notEqual(keyed("one", "hi"), keyed("another", "hi"));
  for (const secret of ["short", Buffer.from("s".repeat(64)), "ü".repeat(80)])
    for (const text of ["", "hi", "ü".repeat(500), "ü".repeat(1_000_001)])
      assert.equal(keyed(secret, text), createHmac("sha256", secret).update(text).digest("base64url").slice(0, 22));
});

test("in random conversations of every dialect each message has a place of its own, also when the chain goes on from a state", () => {
  for (let seed = 1; seed <= 60; seed += 1)
    for (const dialect of DIALECTS) {
      const shape = shapeOf(dialect) as unknown as Shape<unknown>;
      const messages = render(randomConversation(seed), shape) as readonly unknown[];
      const whole = chainOf(messages, { shape, secret: SECRET });
      const cut = Math.floor(messages.length / 2);
      const first = chainOf(messages.slice(0, cut), { shape, secret: SECRET });
      const rest = chainOf(messages.slice(cut), { shape, secret: SECRET, from: first.state });
      assert.deepEqual([...first.places, ...rest.places], whole.places, `${dialect}, seed ${seed}`);
      const copied = JSON.parse(JSON.stringify(messages)) as unknown[];
      assert.deepEqual(chainOf(copied, { shape, secret: SECRET }).places, whole.places);
    }
  assert.deepEqual(chainOf([], { shape: shapeOf("openai"), secret: SECRET }), { places: [], state: START });
});

test("one message of many megabytes is hashed in many steps, to the same places as its parts' spellings", () => {
  const shape = shapeOf("openai") as unknown as Shape<unknown>;
  const long = "word ".repeat(1_000_000);
  const result = [
    { role: "assistant", content: null, tool_calls: [call("1", "{}")] },
    { role: "tool", tool_call_id: "1", content: long },
  ];
  for (const messages of [[{ role: "user", content: long }], [{ role: "assistant", content: long }], result]) {
    const steps = chainSteps(messages, { shape, secret: SECRET });
    let count = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) count += 1;
    assert.ok(count >= 18, `${count}`);
  }
  const asBlock = [{ role: "user", content: [{ type: "text", text: long }] }];
  assert.equal(last("openai", [{ role: "user", content: long }]), last("openai", asBlock));
});

test("results in a row are read once each: twenty thousand long ones, answered or not", { timeout: 60_000 }, () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => `call-${index}`);
  const results = ids.map((id) => ({ role: "tool", tool_call_id: id, content: id.repeat(200) }));
  for (const calls of [[], [{ role: "assistant", content: null, tool_calls: ids.map((id) => call(id, "{}")) }]]) {
    const places = hashes("openai", [...calls, ...results, { role: "assistant", content: "done" }]);
    assert.equal(new Set(places).size, calls.length + results.length + 1);
  }
});

test("an answer behind results has the same place whether the chain goes on from its state or from its hash", async () => {
  const shape = shapeOf("openai") as unknown as Shape<unknown>;
  const options = { shape, secret: SECRET };
  const calls = { role: "assistant", content: null, tool_calls: [call("a", "{}"), call("b", "{}")] };
  const results = ["b", "a"].map((id) => ({ role: "tool", tool_call_id: id, content: id }));
  const { state } = chainOf([calls, ...results], options);
  const from = chainStateAt(await hashBefore(state, SECRET));
  const answer = [{ role: "assistant", content: "done" }];
  assert.deepEqual(chainOf(answer, { ...options, from }), chainOf(answer, { ...options, from: state }));
});
