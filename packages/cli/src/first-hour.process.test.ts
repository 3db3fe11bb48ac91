// What a newcomer meets first, through the real binary: the first question, what they have already, their first model.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { desk } from "../test/binary.ts";

test("the offline chat answers the first questions a newcomer asks out of what they said, in any language", async (t) => {
  const { piped } = desk(t);
  const said = ["My dog Rex lives in Oslo.", "Where does Rex live?", "Who is Rex?", "Wo wohnt Rex?"];
  const { code, stdout } = await piped(said, "chat", "--thread", "t");
  assert.equal(code, 0);
  for (const question of said.slice(1)) {
    const answer = stdout.slice(stdout.indexOf(`> ${question}`));
    assert.match(
      answer,
      /^> .*\n(?: {2}> .*\n)*\[offline\] Message #\d+ \(user\) says: "My dog Rex lives in Oslo\."/,
      stdout,
    );
  }
});

test("UI messages of the AI SDK are imported with their words, and a message without any is refused with its place", async (t) => {
  const at = desk(t);
  const message = (role: string, text: string) => ({ id: text, role, parts: [{ type: "text", text }] });
  const file = at.file(
    "ui.json",
    JSON.stringify([message("user", "What is a lemur?"), message("assistant", "A primate.")]),
  );
  const { code, document } = await at.json("import", file, "--thread", "u");
  assert.deepEqual([code, document["imported"]], [0, 2]);
  assert.match((await at.run("replay", "u")).stdout, /What is a lemur\?[\s\S]*A primate\./);
  assert.match((await at.run("search", "u", "primate")).stdout, /A primate/);
  for (const empty of [{ role: "user" }, { role: "user", text: "hello" }]) {
    const refused = await at.run("import", at.file("empty.jsonl", JSON.stringify(empty)), "--thread", "e");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /line 1.*content/);
  }
});

const EXPORTS: Readonly<Record<string, object>> = {
  ChatGPT: [
    {
      title: "Lemurs",
      current_node: "a",
      mapping: {
        u: { id: "u", parent: null, children: ["a"], message: chatGpt("user", "What is a lemur?") },
        a: { id: "a", parent: "u", children: [], message: chatGpt("assistant", "A primate.") },
      },
    },
  ],
  "Claude.ai": [
    {
      uuid: "c",
      name: "Lemurs",
      chat_messages: [
        { uuid: "1", sender: "human", text: "What is a lemur?", content: [{ type: "text", text: "What is a lemur?" }] },
        { uuid: "2", sender: "assistant", text: "A primate.", content: [{ type: "text", text: "A primate." }] },
      ],
    },
  ],
  Codex: {
    type: "response_item",
    payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: "A primate." }] },
  },
  LangChain: [
    { type: "human", data: { content: "What is a lemur?" } },
    { type: "ai", data: { content: "A primate." } },
  ],
  LangGraph: {
    values: {
      messages: [
        { type: "human", content: "What is a lemur?" },
        { type: "ai", content: "A primate." },
      ],
    },
  },
  Gemini: {
    contents: [
      { role: "user", parts: [{ text: "What is a lemur?" }] },
      { role: "model", parts: [{ text: "A primate." }] },
    ],
  },
  ShareGPT: {
    conversations: [
      { from: "human", value: "What is a lemur?" },
      { from: "gpt", value: "A primate." },
    ],
  },
  "OpenAI Responses": {
    input: [
      { role: "user", content: [{ type: "input_text", text: "What is a lemur?" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "A primate." }] },
    ],
  },
};

function chatGpt(role: string, text: string): object {
  return { author: { role }, content: { content_type: "text", parts: [text] }, recipient: "all" };
}

test("what people have already is imported: ChatGPT, Claude.ai, Codex, LangChain, LangGraph, Gemini, ShareGPT, Responses", async (t) => {
  const at = desk(t);
  for (const [app, content] of Object.entries(EXPORTS)) {
    const thread = app.replaceAll(/\W/g, "-");
    const { code, stderr } = await at.run(
      "import",
      at.file(`${thread}.json`, JSON.stringify(content)),
      "--thread",
      thread,
    );
    assert.equal(code, 0, `${app}: ${stderr}`);
    assert.match((await at.run("replay", thread)).stdout, /A primate\./, app);
  }
  const other = await at.run("import", at.file("other.json", '{"event": 1}'), "--thread", "other");
  assert.equal(other.code, 1);
  assert.match(other.stderr, /ChatGPT/, "what is read is named");
});

test("a file that only adds a model leaves compaction on: the window is never filled to the brim", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({ window: 16_000, respond: () => "It does. ".repeat(60) });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 16000}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\n`);
  const said = Array.from(
    { length: 14 },
    (_, n) => `Part ${n}: ${"the parser reads its tokens one by one ".repeat(120)}`,
  );
  const { code, stdout } = await at.piped(said, "chat", "--thread", "t");
  assert.equal(code, 0);
  assert.match(stdout, /-- compacted · /);
  assert.ok(!stdout.includes("finds the prompt too long"), stdout);
});

test("a chat says that a file named by @ isn't there, and of what memory couldn't learn one sentence without its log", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({ respond: ({ stream }) => (stream ? "I see." : "no update at all") });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 16000}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\ntitle: {enabled: false}\n`);
  const { code, stdout, stderr } = await at.piped(["What is in @nowhere.txt asks @anna?"], "chat", "--thread", "t");
  assert.equal(code, 0);
  assert.match(stdout, /There is no file nowhere\.txt here/);
  assert.ok(!stdout.includes("no file anna"));
  assert.equal(stderr.split("could not be learned for memory").length, 2, stderr);
  assert.ok(!`${stdout}${stderr}`.includes("[Memory"), stderr);
});
