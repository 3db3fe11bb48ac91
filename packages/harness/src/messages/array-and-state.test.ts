import assert from "node:assert/strict";
import { test } from "node:test";
import type { AiSdkMessage, OpenAiMessage, ResponsesItem } from "@palimpsest/core/internal/message";
import type { CompactionEvent } from "../compaction/events.ts";
import { compactMessages } from "./compact-messages.ts";
import { createMessageCompactor } from "./message-compactor.ts";
import { type MessagesState, StateMismatchError } from "./state.ts";

test("nothing in, nothing out", async () => {
  const { messages, sources, outcome } = await compactMessages([], { window: 4000 });
  assert.deepEqual([messages, sources, outcome.kind], [[], [], "unchanged"]);
});

test("messages that no dialect has are refused with what they look like, and nothing is made up", async () => {
  const ui = [{ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }];
  await assert.rejects(compactMessages(ui, { window: 4000 }), {
    code: "bad-message",
    message: /^message 1 looks like an AI SDK UI message/,
  });
  await assert.rejects(compactMessages([{ text: "hi" }], { window: 4000 }), /has the fields text: no dialect/);
});

for (const [given, why] of [
  [
    [
      { role: "user", content: "hi" },
      { role: "assistant", content: 5 },
    ],
    /^message 2 can't be read: .*content/,
  ],
  [
    [
      { role: "user", content: "hi" },
      { role: "assitant", content: "x" },
    ],
    /^message 2 can't be read: .*assitant/,
  ],
  [[{ role: "user" }], /^message 1 /],
  ["nope", /^messages must be an array of messages, not a string$/],
] as const)
  test(`what can't be read is refused with its place: ${JSON.stringify(given)}`, async () => {
    const refused = { name: "PalimpsestError", code: "bad-message", message: why };
    await assert.rejects(compactMessages(given as never, { window: 4000 }), refused);
    await assert.rejects(createMessageCompactor({ window: 4000 }).prompt(given as never), refused);
    if (typeof given !== "string" && "content" in given[0])
      await assert.rejects(compactMessages(given as never, { window: 4000, dialect: "openai" }), refused);
  });

test("the state of another array is refused, or left aside when that is asked for; the question stands either way", async () => {
  const { state } = await compactMessages(talk(120), { window: 4000 });
  const asked = [{ role: "user", content: "What is the capital of France?" }];
  const refused = await compactMessages(asked, { window: 4000, state }).catch((error: unknown) => error);
  assert.ok(StateMismatchError.isInstance(refused));
  assert.equal(refused.code, "other-messages");
  assert.match(refused.message, /onMismatch: "reset"/);
  const result = await compactMessages(asked, { window: 4000, state, onMismatch: "reset" });
  assert.deepEqual([result.messages, result.recognized], [asked, "foreign"]);
});

test("an array that was cut back into what is hidden is another array: its last question would be hidden", async () => {
  const all = talk(120);
  const { state } = await compactMessages(all, { window: 4000 });
  const cut = all.slice(0, state.hidden.count);
  await assert.rejects(compactMessages(cut, { window: 4000, state }), StateMismatchError);
  const question = cut.findLast(({ role }) => role === "user")!;
  const { messages } = await compactMessages(cut, { window: 4000, state, onMismatch: "reset" });
  assert.ok(messages.includes(question));
});

test("a cache mark or another order of keys doesn't make it another array", async () => {
  const all: AiSdkMessage[] = talk(120).map(({ role, content }) => ({
    role,
    content: [{ type: "text", text: content }],
  }));
  const { state } = await compactMessages(all, { window: 4000, dialect: "ai-sdk" });
  const stored = all.map(({ role, content }) => ({
    content,
    providerOptions: { anthropic: { cacheControl: {} } },
    role,
  }));
  const { recognized } = await compactMessages(stored, { window: 4000, dialect: "ai-sdk", state });
  assert.equal(recognized, "grown");
});

test("a state of another version is refused by name", async () => {
  const { state } = await compactMessages(talk(120), { window: 4000 });
  for (const other of [
    { ...state, v: 2 },
    { compaction: state.compaction, prunes: [] },
  ]) {
    const given = { window: 4000, state: other as unknown as MessagesState, onMismatch: "reset" } as const;
    const refused = await compactMessages(talk(120), given).catch((error: unknown) => error);
    assert.ok(StateMismatchError.isInstance(refused));
    assert.equal(refused.code, "other-version");
  }
});

test("a prepareStep that gives back its messages keeps every tool result since the last compaction, to step 25 and on", async () => {
  let carried: readonly AiSdkMessage[] = [{ role: "user", content: "Sound the harbor at every buoy." }];
  let state: MessagesState | undefined;
  let compactions = 0;
  for (let step = 1; step <= 40; step += 1) {
    const { messages, outcome, ...result } = await compactMessages(carried, { window: 4000, state });
    state = result.state;
    if (outcome.kind === "compacted") compactions += 1;
    if (step > 1) assert.match(JSON.stringify(messages), new RegExp(`buoy ${step - 1} is`));
    assert.match(JSON.stringify(messages), /Sound the harbor/);
    carried = [...messages, ...sounding(step, 40)];
  }
  assert.ok(compactions >= 2, `${compactions} compactions`);
});

test("a flat list of Responses items is gathered and comes back flat", async () => {
  const items: ResponsesItem[] = Array.from({ length: 60 }, (_, turn): ResponsesItem[] => [
    { role: "user", content: `How deep is it at buoy ${turn}?` },
    { type: "function_call", call_id: `c${turn}`, name: "sound", arguments: JSON.stringify({ buoy: turn }) },
    { type: "function_call_output", call_id: `c${turn}`, output: "It is seven fathoms there. ".repeat(8) },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Seven fathoms." }] },
  ]).flat();
  const { messages, sources, outcome } = await compactMessages(items, { window: 4000 });
  assert.equal(outcome.kind, "compacted");
  assert.ok(messages.every((item) => !Array.isArray(item)));
  assert.equal(messages.at(-1), items.at(-1));
  assert.equal(sources.length, messages.length);
});

test("what the provider reported is what the count goes on from", async () => {
  const said = talk(20);
  const plain = await compactMessages(said, { window: 100_000 });
  const usage = { input: 3 * plain.tokens, output: 40, of: 20 };
  const { tokens, counted, state } = await compactMessages(said, { window: 100_000, usage });
  assert.equal(counted, "anchored");
  assert.ok(tokens >= usage.input && tokens <= usage.input + 400, `${tokens} after ${usage.input}`);
  // It is remembered for the next call, and told apart from messages that were edited since.
  const next = [...said, ...talk(1)];
  assert.equal((await compactMessages(next, { window: 100_000, state })).counted, "anchored");
  const edited = next.map((message, index) => (index === 3 ? { ...message, content: "Edited." } : message));
  assert.equal((await compactMessages(edited, { window: 100_000, state })).counted, "estimated");
});

test("a failing summarizer is told with its reason, and events are heard", async () => {
  const events: CompactionEvent["type"][] = [];
  const { outcome } = await compactMessages(talk(120), {
    window: 4000,
    summarizer: () => {
      throw new Error("401 bad key");
    },
    onEvent: ({ type }) => events.push(type),
  });
  assert.ok(outcome.kind === "compacted" && outcome.rung === "extract");
  assert.deepEqual(outcome.writer, { reason: "error", detail: "401 bad key" });
  assert.ok(events.includes("summary-failed") && events.includes("compaction-end"), events.join());
});

test("a writer that throws, and a summarizer whose answer is no summary, are told as well", async () => {
  const throwing = async () => {
    throw new Error("401 bad key");
  };
  const thrown = await compactMessages(talk(120), { window: 4000, writer: throwing });
  assert.deepEqual(thrown.outcome.writer, { reason: "error", detail: "401 bad key" });
  const prose = await compactMessages(talk(120), { window: 4000, summarizer: () => "Sure, I can do that for you." });
  assert.ok(prose.outcome.kind === "compacted" && prose.outcome.rung === "extract");
  assert.equal(prose.outcome.writer?.reason, "invalid", JSON.stringify(prose.outcome.writer));
});

test("a summarizer is a function of a prompt, a counter one of a text", async () => {
  const prompts: string[] = [];
  const { outcome, messages, tokens } = await compactMessages(talk(120), {
    window: 4000,
    focus: "the tide tables",
    counter: (text) => Math.ceil(text.length / 3),
    summarizer: (prompt) => {
      prompts.push(prompt);
      return '{"add": {"facts": [{"text": "The Marigold lies at pier 7", "seqs": [1]}]}}';
    },
  });
  assert.ok(outcome.kind === "compacted" && outcome.rung === "summarize");
  assert.equal(outcome.writer, null);
  assert.match(prompts.join(), /the tide tables/);
  assert.match(JSON.stringify(messages), /The Marigold lies at pier 7/);
  assert.ok(tokens <= 3500);
});

test("a pinned message is quoted in every summary", async () => {
  const said = talk(200).map((message, index) =>
    index === 5 ? { ...message, content: "The password of the harbor office is quicksilver." } : message,
  );
  let state: MessagesState | undefined;
  for (let end = 40; end <= said.length; end += 40) {
    const { messages, ...result } = await compactMessages(said.slice(0, end), { window: 3000, state, pins: [6] });
    state = result.state;
    assert.match(JSON.stringify(messages), /harbor office is quicksilver/);
  }
});

test("where keep was said, old tool results are shortened when that pays, unless that is turned off", async () => {
  const said: AiSdkMessage[] = [{ role: "user", content: "Sound the harbor." }];
  for (let step = 1; step <= 30; step += 1) said.push(...sounding(step, 40));
  const options = { window: 100_000, keep: { type: "messages", value: 4 } } as const;
  const pruned = await compactMessages(said, {
    ...options,
    prune: { from: 1000, protectTokens: 500, minGainTokens: 100, cache: "cold" },
  });
  assert.ok(
    pruned.outcome.kind === "compacted" && pruned.outcome.rung === "prune",
    JSON.stringify(pruned.outcome.kind),
  );
  assert.equal(pruned.state.compaction, null);
  const hidden = await compactMessages(said, { ...options, prune: null });
  assert.equal(hidden.outcome.kind, "unchanged");
});

test("a compactor keeps its state, takes reports, finds what it hid, and goes on in another process", async () => {
  const said = talk(120);
  const compactor = createMessageCompactor<OpenAiMessage>({ window: 4000 });
  for (let end = 20; end <= said.length; end += 20) {
    const { tokens } = await compactor.prompt(said.slice(0, end));
    compactor.report({ input: Math.ceil(tokens * 1.1), output: 20 });
  }
  assert.notEqual(compactor.state.compaction, null);
  const search = await compactor.search("message number 7 whatever");
  const [found] = search.kind === "found" ? search.hits : [];
  assert.equal(found?.message, said[found!.place - 1]);
  assert.deepEqual(await compactor.search(""), { kind: "nothing", reason: "no-terms" });
  const other = createMessageCompactor<OpenAiMessage>({
    window: 4000,
    state: JSON.parse(JSON.stringify(compactor.state)),
  });
  const [one, two] = [await compactor.prompt(said), await other.prompt(said)];
  assert.deepEqual([two.messages, two.tokens, two.recognized], [one.messages, one.tokens, "grown"]);
  assert.notEqual(one.counted, "estimated");
  // Another chat is another conversation.
  const asked: OpenAiMessage[] = [{ role: "user", content: "What is the capital of France?" }];
  assert.deepEqual((await compactor.prompt(asked)).messages, asked);
});

interface Said {
  readonly role: "user" | "assistant";
  readonly content: string;
}

function talk(count: number): Said[] {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message number ${index}: ${"the tide comes in. ".repeat(10)}`,
  }));
}

function sounding(buoy: number, words = 12): AiSdkMessage[] {
  const toolCallId = `call-${buoy}`;
  const value = `buoy ${buoy} is at ${"seven fathoms, sand and shell. ".repeat(words)}`;
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "sound", input: { buoy } }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId, toolName: "sound", output: { type: "text", value } }],
    },
  ];
}
