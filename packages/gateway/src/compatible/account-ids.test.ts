// Ids inside a conversation that name what the operator's account with the provider holds: with a plain key they are refused.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CHAT, MESSAGES, RESPONSES } from "../../test/asking.ts";
import { noting } from "../../test/http-server.ts";
import { keyed } from "../../test/keyed.ts";
import type { Answered } from "../../test/running.ts";

const user = (content: unknown) => [{ role: "user", content }];
const chat = (part: object) => ({ model: "oa", messages: user([{ type: "text", text: "read it" }, part]) });
const claude = (block: object, more: object = {}) => ({
  model: "claude",
  max_tokens: 9,
  messages: user([block, { type: "text", text: "read it" }]),
  ...more,
});
const responses = (more: object, part: object = { type: "input_text", text: "read it" }) => ({
  model: "oa",
  input: user([part]),
  ...more,
});

const NAMING: readonly (readonly [string, string, object])[] = [
  ["a file of chat completions", CHAT, chat({ type: "file", file: { file_id: "file-anns" } })],
  ["a file of a response", RESPONSES, responses({}, { type: "input_file", file_id: "file-anns" })],
  ["an image of a response", RESPONSES, responses({}, { type: "input_image", file_id: "file-anns" })],
  [
    "a file in a tool's result",
    RESPONSES,
    {
      model: "oa",
      input: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "file-anns" }] },
      ],
    },
  ],
  ["an item that the vendor keeps", RESPONSES, { model: "oa", input: [{ type: "item_reference", id: "msg_anns" }] }],
  ["a vector store", RESPONSES, responses({ tools: [{ type: "file_search", vector_store_ids: ["vs_anns"] }] })],
  ["a container", RESPONSES, responses({ tools: [{ type: "code_interpreter", container: "cntr_anns" }] })],
  [
    "files for a new container",
    RESPONSES,
    responses({ tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file-anns"] } }] }),
  ],
  ["a document of Anthropic", MESSAGES, claude({ type: "document", source: { type: "file", file_id: "file_anns" } })],
  ["an image of Anthropic", MESSAGES, claude({ type: "image", source: { type: "file", file_id: "file_anns" } })],
  ["an upload into a container", MESSAGES, claude({ type: "container_upload", file_id: "file_anns" })],
  ["a container of Anthropic", MESSAGES, claude({ type: "text", text: "hi" }, { container: "container_anns" })],
  ["the same by its id", MESSAGES, claude({ type: "text", text: "hi" }, { container: { id: "container_anns" } })],
  [
    "a document in a tool's result",
    MESSAGES,
    {
      model: "claude",
      max_tokens: 9,
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t",
              content: [{ type: "document", source: { type: "file", file_id: "file_anns" } }],
            },
          ],
        },
      ],
    },
  ],
];

/** Places that only some tools, parts and spellings of OpenAI and Anthropic have. */
const HIDDEN: readonly (readonly [string, string, object])[] = [
  ["an item without a type", RESPONSES, { model: "oa", input: [{ id: "msg_anns" }] }],
  ["an item whose type is null", RESPONSES, { model: "oa", input: [{ type: null, id: "msg_anns" }] }],
  ["a picture by its id", RESPONSES, { model: "oa", input: [{ type: "image_generation_call", id: "ig_anns" }] }],
  [
    "a screenshot",
    RESPONSES,
    {
      model: "oa",
      input: [
        { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", file_id: "file-anns" } },
      ],
    },
  ],
  [
    "the mask of a picture",
    RESPONSES,
    responses({ tools: [{ type: "image_generation", input_image_mask: { file_id: "file-anns" } }] }),
  ],
  [
    "a variable of a stored prompt",
    RESPONSES,
    responses({ prompt: { id: "pmpt_1", variables: { f: { type: "input_file", file_id: "file-anns" } } } }),
  ],
  [
    "a container of a shell",
    RESPONSES,
    responses({ tools: [{ type: "shell", environment: { type: "container_reference", container_id: "cntr_anns" } }] }),
  ],
  [
    "files of a shell",
    RESPONSES,
    responses({ tools: [{ type: "shell", environment: { type: "container_auto", file_ids: ["file-anns"] } }] }),
  ],
  [
    "a container that an earlier call used",
    RESPONSES,
    { model: "oa", input: [{ type: "code_interpreter_call", id: "ci_1", code: "1", container_id: "cntr_anns" }] },
  ],
  [
    "a recording in chat completions",
    CHAT,
    { model: "oa", messages: [...user("hi"), { role: "assistant", audio: { id: "audio_anns" } }, ...user("on")] },
  ],
  [
    "a skill of the account",
    MESSAGES,
    claude(
      { type: "text", text: "hi" },
      { container: { skills: [{ type: "custom", skill_id: "skill_anns", version: "latest" }] } },
    ),
  ],
];

/** Answered by the vendor alone where the client wants that. */
const NATIVE: readonly (readonly [string, string, object])[] = [
  ["a response that the vendor keeps", RESPONSES, responses({ previous_response_id: "resp_anns" })],
  ["a conversation that the vendor keeps", RESPONSES, responses({ conversation: "conv_anns" })],
  [
    "a thread that the vendor keeps",
    MESSAGES,
    claude({ type: "text", text: "hi" }, { thread: { type: "continue", previous_message_id: "msg_anns" } }),
  ],
];

/** Each vendor has its own place for a code. */
function refusalIn({ text }: Answered): string | undefined {
  const { error } = JSON.parse(text) as { error?: { code?: string; details?: { code?: string } } };
  return error?.code ?? error?.details?.code;
}

async function place(t: TestContext, gateway = "") {
  const { url, seen } = await noting(t, { body: JSON.stringify({ choices: [], usage: {} }) });
  const entry = (name: string, provider: string) =>
    `  - {name: ${name}, provider: ${provider}, model: ${name}, base_url: "${url}/v1", api_key: operators}\n`;
  const config = `models:\n${entry("oa", "openai")}${entry("claude", "anthropic")}gateway: {${gateway}}\n`;
  return { ...(await keyed(t, { config })), seen };
}

test("a plain key names nothing of the operator's account, whatever the mode and however it is spelled", async (t) => {
  const { ask, seen } = await place(t);
  for (const [title, path, body] of [...NAMING, ...HIDDEN])
    for (const mode of ["on", "observe", "off"])
      for (const text of [JSON.stringify(body), JSON.stringify(body).replaceAll("_id", "\\u005fid")]) {
        const headers = { "x-palimpsest-mode": mode, "content-type": "application/json" };
        const answer = await ask("bob", "POST", path, { headers, body: text });
        assert.deepEqual([answer.status, refusalIn(answer)], [403, "provider-id"], `${title}, ${mode}: ${answer.text}`);
      }
  for (const [title, path, body] of NATIVE)
    for (const headers of [{ "x-palimpsest-mode": "off" }, { "x-palimpsest-compaction": "native" }]) {
      const answer = await ask("bob", "POST", path, { headers, body });
      assert.deepEqual([answer.status, refusalIn(answer)], [403, "provider-id"], `${title}: ${answer.text}`);
    }
  assert.deepEqual(seen, []);
});

test("nor does a request to count tokens", async (t) => {
  const { ask, seen } = await place(t);
  const counting: Record<string, string> = {
    [RESPONSES]: `${RESPONSES}/input_tokens`,
    [MESSAGES]: `${MESSAGES}/count_tokens`,
  };
  for (const [title, path, body] of NATIVE)
    for (const headers of [{}, { "x-palimpsest-mode": "off" }, { "x-palimpsest-compaction": "native" }]) {
      const answer = await ask("bob", "POST", counting[path]!, { headers, body });
      const isUnknown = answer.status === 404 && path === MESSAGES;
      assert.ok(isUnknown || refusalIn(answer) === "provider-id", `${title}: ${answer.status} ${answer.text}`);
    }
  assert.deepEqual(seen, []);
});

test("a field may have the name of what every object inherits", async (t) => {
  const { ask } = await place(t);
  for (const name of ["__proto__", "constructor", "toString"])
    for (const [path, body] of [
      [RESPONSES, responses({ more: { id: 1 } })],
      [CHAT, chat({ type: "text", text: "hi", id: "1" })],
    ] as const) {
      const text = `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(name)}:{"a":1}}`;
      const answer = await ask("bob", "POST", path, { headers: { "content-type": "application/json" }, body: text });
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
    }
});

test("an admin and a caller with the provider's own key may name it", async (t) => {
  const { ask, seen } = await place(t);
  for (const [title, path, body] of NAMING.filter(([title]) => title !== "an item that the vendor keeps")) {
    assert.equal((await ask("admin", "POST", path, { body })).status, 200, title);
    const headers = { "x-provider-key": "bobs-own" };
    assert.equal((await ask("bob", "POST", path, { body, headers })).status, 200, title);
  }
  assert.equal(seen.length, 2 * (NAMING.length - 1));
});

test("what the operator's list opens may be named", async (t) => {
  const { ask } = await place(t, "pass_through: [POST /v1/files]");
  const [, path, body] = NAMING[0]!;
  assert.equal((await ask("bob", "POST", path, { body })).status, 200);
  assert.equal((await ask("bob", "POST", MESSAGES, { body: NAMING.at(-3)![2] })).status, 403);
  const all = await place(t, "pass_through: all");
  for (const [title, at, named] of NAMING.slice(0, 4))
    assert.equal((await all.ask("bob", "POST", at, { body: named })).status, 200, title);
});

test("an argument of a user's own tool may have any name", async (t) => {
  const { ask } = await place(t);
  const calls = [{ type: "tool_use", id: "t", name: "f", input: { type: "file", file: { file_id: "x" } } }];
  const body = {
    model: "claude",
    max_tokens: 9,
    tools: [{ name: "f", input_schema: { type: "object", properties: { file_id: { type: "string" } } } }],
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: calls },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: '{"file_id":"x"}' }] },
    ],
  };
  assert.equal((await ask("bob", "POST", MESSAGES, { body })).status, 200);
});

test("what a provider reports about files, and skills of Anthropic itself, may be repeated", async (t) => {
  const { ask } = await place(t);
  const cited = {
    type: "output_text",
    text: "so",
    annotations: [{ type: "file_citation", file_id: "file-1", index: 0 }],
  };
  const input = [
    ...user("go"),
    { type: "message", id: "msg_1", role: "assistant", content: [cited] },
    { id: "msg_2", role: "user", content: "an item with an id and its content" },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "aGk=" },
    ...user("on"),
  ];
  assert.equal((await ask("bob", "POST", RESPONSES, { body: { model: "oa", input } })).status, 200);
  const skills = { container: { skills: [{ type: "anthropic", skill_id: "pptx", version: "latest" }] } };
  const body = claude({ type: "text", text: "hi" }, skills);
  assert.equal((await ask("bob", "POST", MESSAGES, { body })).status, 200);
});

test("a body that names a field twice anywhere is refused, since the provider may read the other one", async (t) => {
  const { ask, seen } = await place(t);
  const headers = { "content-type": "application/json" };
  for (const [path, body] of [
    [
      RESPONSES,
      '{"model":"oa","input":[{"type":"item_reference","id":"m","type":"message","role":"user","content":"x"}]}',
    ],
    [
      RESPONSES,
      '{"model":"oa","input":"x","tools":[{"type":"file_search","vector_store_ids":["v"],"vector_store_ids":null}]}',
    ],
    ["/v1/embeddings", '{"model":"oa","input":"x","more":{"a":1,"a":2}}'],
  ] as const)
    assert.equal((await ask("bob", "POST", path, { headers, body })).status, 400, body);
  assert.deepEqual(seen, []);
});
