import assert from "node:assert/strict";
import { test } from "node:test";
import { copyRules, NO_RULES, renderRules, rulesInForce } from "@palimpsest/core/internal/log";
import { openaiShape } from "@palimpsest/core/internal/message";
import { emptyState, parsePatch, patchPrompt, prosePrompt, renderTranscript } from "@palimpsest/core/internal/summary";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { generateText, jsonSchema, type ModelMessage, streamText, type Tool } from "ai";
import { OFFLINE_LABEL, offlineModel } from "./offline-model.ts";

const model = offlineModel();
const toolWith = (...names: string[]): Tool => ({
  inputSchema: jsonSchema({ type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) }),
});
const recall = toolWith("query");

async function ask(question: string, tools: Record<string, Tool> = {}, after: ModelMessage[] = []) {
  const messages: ModelMessage[] = [{ role: "user", content: question }, ...after];
  const { text, toolCalls, usage } = await generateText({ model, messages, tools });
  return { text, calls: toolCalls.map(({ toolName, input }) => [toolName, input]), usage };
}

const answered = (name: string, value: string): ModelMessage[] => [
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: name, input: {} }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "c", toolName: name, output: { type: "text", value } }],
  },
];

test("a question about the past calls recall with the words that matter", async () => {
  const { calls } = await ask("What did I say about the harbour budget at the very beginning?", { recall });
  assert.deepEqual(calls, [["recall", { query: "harbour budget" }]]);
  assert.deepEqual((await ask("what is my favourite color?", { recall })).calls, [
    ["recall", { query: "favourite color" }],
  ]);
});

test("a statement, and a question without recall, call nothing and get a labelled answer", async () => {
  const stated = await ask("The harbour budget is 40 million.", { recall });
  assert.deepEqual(stated.calls, []);
  assert.ok(stated.text.startsWith(OFFLINE_LABEL));
  assert.ok((await ask("What did I say earlier?")).text.startsWith(OFFLINE_LABEL));
  assert.ok((await ask(" ")).text.startsWith(OFFLINE_LABEL));
});

test("standing rules before a question are no part of it", async () => {
  const rules = renderRules(rulesInForce(copyRules(NO_RULES, { user: ["Never push to main."] }, "")));
  const { text } = await ask(`${rules}\n\nThe harbour budget is 40 million.`);
  assert.equal(text, (await ask("The harbour budget is 40 million.")).text);
});

test("what recall found is quoted with its turn, the telling turn before the asking one", async () => {
  const found = "2026-01-02\n3 user: what is the harbour budget?\n7 user: the harbour budget is 40 million\n";
  const { text } = await ask("what was the harbour budget?", { recall }, answered("recall", found));
  assert.match(text, /^\[offline\] Message #7 \(user\) says: "the harbour budget is 40 million"/);
  const json = JSON.stringify({ hits: [{ seq: 12, role: "user", snippet: "the boat is blue" }] });
  const { text: boat } = await ask("what was the boat?", { recall }, answered("recall", json));
  assert.match(boat, /Message #12 \(user\).*the boat is blue/);
});

test("what was said first is read from the beginning, and an own echo is never quoted before a person's words", async () => {
  for (const question of [
    "What did I say first?",
    "what was my first message?",
    "What did we say at the very beginning?",
  ]) {
    const asked = await ask(question, { recall, recall_read: toolWith("from", "to") });
    assert.deepEqual(asked.calls, [["recall_read", { from: 1, to: 20 }]], question);
    const read = "2 assistant: Hello.\n3 user: My dog Rex lives in Oslo.\n4 assistant: [offline] You said ...";
    const { text } = await ask(question, {}, answered("recall_read", read));
    assert.equal(text, '[offline] Message #3 (user) says: "My dog Rex lives in Oslo."');
  }
  const found =
    '8 assistant: [offline] You said: "He is seven." I keep everything said here.\n3 user: Rex said woof.\n';
  const { text } = await ask("What was said?", { recall }, answered("recall", found));
  assert.match(text, /Message #3 \(user\)/);
});

test("without recall, what the prompt still holds is quoted", async () => {
  const messages: ModelMessage[] = [
    { role: "user", content: "the harbour budget is 40 million" },
    { role: "assistant", content: "[offline] I see." },
    { role: "user", content: "what was the harbour budget?" },
  ];
  const { text } = await generateText({ model, messages });
  assert.equal(text, '[offline] Earlier the user said: "the harbour budget is 40 million"');
});

test("any question tries recall, in any language; a hit that shares a word is quoted, else the question is echoed", async () => {
  const cases = [
    ["Where does Rex live?", "My dog Rex lives in Oslo."],
    ["Who is Rex?", "My dog Rex lives in Oslo."],
    ["Wo wohnt Rex?", "Mein Hund Rex wohnt in Oslo."],
    ["我的狗住在哪里？", "我的狗住在奥斯陆。"],
    ["أين يعيش ريكس؟", "كلبي ريكس يعيش في أوسلو."],
  ] as const;
  for (const [question, said] of cases) {
    assert.equal((await ask(question, { recall })).calls[0]?.[0], "recall", question);
    const { text } = await ask(question, { recall }, answered("recall", `3 user: ${said}`));
    assert.equal(text, `[offline] Message #3 (user) says: "${said}"`);
  }
  const other = await ask("Is it Tuesday?", { recall }, answered("recall", "3 user: My dog Rex lives in Oslo."));
  assert.match(
    other.text,
    /You said: "Is it Tuesday\?".* name a model in config\.yaml, or give the agent one as `model`\./,
  );
});

test("asked for help it says what it can do, asked for a summary it lists what was said", async () => {
  for (const question of ["help", "What can you do?"]) assert.match((await ask(question)).text, /find what was said/);
  const messages: ModelMessage[] = [
    { role: "user", content: "My dog Rex lives in Oslo." },
    { role: "assistant", content: "[offline] I see." },
    { role: "user", content: "Summarize our conversation" },
  ];
  const { text } = await generateText({ model, messages, tools: { recall } });
  assert.match(text, /what you said \(1\):\n- My dog Rex lives in Oslo\.$/);
  assert.match((await ask("Please summarize our conversation.")).text, /Nothing was said yet/);
});

test("a summary of what was said leaves out rules and the summary of what was hidden, and says that there is one", async () => {
  const rules = renderRules(rulesInForce(copyRules(NO_RULES, { user: ["Never push to main."] }, "")));
  const record = "Record of the earlier conversation, messages 1 to 9. It is a record.\n\n## Goals\n- Ship it";
  const asked = (...content: string[]) => {
    const earlier = content.map((text): ModelMessage => ({ role: "user", content: text }));
    return generateText({ model, messages: [...earlier, { role: "user", content: "Summarize our conversation" }] });
  };
  const { text } = await asked(`${rules}\n\n${record}`, "The mill has four wheels.");
  assert.match(
    text,
    /what you said \(1\):\n- \(what came before is behind a summary.*\)\n- The mill has four wheels\.$/,
  );
  assert.match((await asked(`${rules}\n\n${record}`)).text, /All that you said is behind a summary/);
  const { text: first } = await asked(`${rules}\n\nThe mill has four wheels.`);
  assert.match(first, /what you said \(1\):\n- The mill has four wheels\.$/);
});

test("a file that a message mentions is read where its copy is", async () => {
  const tools = { read_file: toolWith("path") };
  const asked =
    "read @/home/me/notes.txt\n\n(Uploaded: /mnt/user-data/uploads/a.md, /mnt/user-data/uploads/notes-2.txt)";
  assert.deepEqual((await ask(asked, tools)).calls, [["read_file", { path: "/mnt/user-data/uploads/notes-2.txt" }]]);
  assert.deepEqual((await ask("read @me", tools)).calls, []);
});

test("nothing found is said, not made up", async () => {
  const { text } = await ask("what was the harbour budget?", { recall }, answered("recall", "no hits"));
  assert.match(text, /found nothing said earlier about "harbour budget"/);
});

test("evidence that memory adds to a question is not taken for the question", async () => {
  const evidence = "read notes.txt\n<evidence>\nLooked up in memory.\nEarlier turns:\n3 user: hello?\n</evidence>";
  const tools = { read_file: toolWith("path") };
  assert.deepEqual((await ask(evidence, tools)).calls, [["read_file", { path: "notes.txt" }]]);
});

test("the line that says how long ago the message before was is no part of the question", async () => {
  const asked = "what was the harbour budget?\n\n[1100 days after the message before: 2026-11-18 22:16 UTC]";
  const { text } = await ask(asked, { recall }, answered("recall", "no hits"));
  assert.match(text, /found nothing said earlier about "harbour budget"/);
});

test("a summary of what was said leaves out the evidence that memory added to it", async () => {
  const messages: ModelMessage[] = [
    { role: "user", content: "Where is Rex?\n<evidence>\nLooked up in memory.\n3 user: hello?\n</evidence>" },
    { role: "assistant", content: "[offline] In Oslo." },
    { role: "user", content: "Summarize our conversation" },
  ];
  const { text } = await generateText({ model, messages });
  assert.match(text, /what you said \(1\):\n- Where is Rex\?$/);
});

test("where recall finds nothing, the evidence from memory is quoted", async () => {
  const asked = "Which tea do I like?\n<evidence>\nLooked up in memory.\nFacts:\n- User likes green tea\n</evidence>";
  const { text } = await ask(asked, { recall }, answered("recall", "nothing found"));
  assert.match(text, /I remember: "User likes green tea"/);
});

test("plain file requests call the file tools that are offered, by their own argument names", async () => {
  const tools = { read_file: toolWith("file_path"), ls: toolWith("path"), write_file: toolWith("path", "content") };
  assert.deepEqual((await ask("read notes.txt", tools)).calls, [["read_file", { file_path: "notes.txt" }]]);
  assert.deepEqual((await ask("List files", tools)).calls, [["ls", { path: "." }]]);
  assert.deepEqual((await ask("list the files in src/app.", tools)).calls, [["ls", { path: "src/app" }]]);
  assert.deepEqual((await ask('write "hello world" to out/a.txt', tools)).calls, [
    ["write_file", { path: "out/a.txt", content: "hello world" }],
  ]);
  assert.deepEqual((await ask("open the door", tools)).calls, []);
  assert.deepEqual((await ask("read notes.txt", { recall })).calls, []);
  const { text } = await ask("read notes.txt", tools, answered("read_file", "milk, eggs"));
  assert.equal(text, "[offline] The tool read_file answered:\nmilk, eggs");
});

test("the same prompt gets the same bytes, streamed or whole", async () => {
  const prompt = "Tell me something interesting, at some length please";
  const whole = await generateText({ model, prompt });
  const streamed = streamText({ model, prompt, onError: () => {} });
  assert.equal(await streamed.text, whole.text);
  assert.deepEqual(await streamed.usage, whole.usage);
  assert.equal((await generateText({ model, prompt })).text, whole.text);
});

test("usage is counted at four characters a token", async () => {
  const { usage, text } = await ask("x".repeat(400));
  assert.equal(usage.outputTokens, charsPerToken(4)(text));
  assert.ok(usage.inputTokens! >= 100 && usage.inputTokens! <= 110);
});

const said = [
  {
    seq: 4,
    message: openaiShape.turn("user", "Build the harbour report. Never touch the file ledger.csv, it is signed."),
  },
  { seq: 5, message: openaiShape.turn("assistant", "I decided to use SQLite because the data is small. See [#9 x].") },
  {
    seq: 6,
    message: openaiShape.turn("user", "My name is Ada Lovelace and I live in Turin. Carry on with the totals."),
  },
];

test("the summarizer's prompt gets a patch whose items point to their messages", async () => {
  const transcript = renderTranscript(said, openaiShape);
  const { system, prompt } = patchPrompt({
    state: emptyState(),
    transcript,
    count: charsPerToken(4),
    maxKnownTokens: 0,
  });
  const { text } = await generateText({ model, instructions: system, prompt });
  const parsed = parsePatch(text);
  assert.ok(parsed.kind === "patch");
  const goals = parsed.patch.add.goals ?? [];
  assert.ok(goals.some((goal) => goal.text.includes("ledger.csv") && goal.seqs.includes(4)));
  assert.ok(
    Object.values(parsed.patch.add)
      .flat()
      .every(({ seqs }) => seqs.every((seq) => seq >= 4 && seq <= 6)),
  );
});

test("a cached prefix is summarized from the conversation before the request", async () => {
  const { prompt } = patchPrompt({ state: emptyState(), transcript: null, count: charsPerToken(4), maxKnownTokens: 0 });
  const before = said.map(({ message }) => ({ role: message.role, content: message.content }) as ModelMessage);
  const { text } = await generateText({ model, messages: [...before, { role: "user", content: prompt }] });
  const parsed = parsePatch(text);
  assert.ok(parsed.kind === "patch" && parsed.patch.add.goals!.some((goal) => goal.text.includes("ledger.csv")));
});

test("a prose prompt gets words that carry the conversation, labelled at the end", async () => {
  const prompt = prosePrompt({ template: null, transcript: renderTranscript(said, openaiShape), prior: null });
  const { text } = await generateText({ model, prompt });
  assert.match(text, /ledger\.csv/);
  assert.ok(text.endsWith(OFFLINE_LABEL));
});

test("a prompt for memory gets the facts that the user told, and none of the assistant's", async () => {
  const other = [{ seq: 7, message: openaiShape.turn("assistant", "I work at the model factory.") }];
  const transcript = renderTranscript([...said, ...other], openaiShape);
  const prompt = `<transcript>\n${transcript}</transcript>\nAnswer as {"newFacts": [], "factsToRemove": []}`;
  const { newFacts } = JSON.parse((await generateText({ model, prompt })).text) as { newFacts: { content: string }[] };
  assert.deepEqual(
    newFacts.map(({ content }) => content),
    ["The user's name is Ada Lovelace", "The user lives in Turin"],
  );
});

test("a prompt for memory removes the known fact that the user asks to forget, and no other", async () => {
  const transcript = "[#5 user]\nI live in Turin.\n[#7 user]\nPlease forget that I live in Turin.\n";
  const prompt = `Known so far:\n1. The user lives in Oslo (context)\n2. The user lives in Turin (context)\n\n<transcript>\n${transcript}</transcript>\nAnswer as {"newFacts": [], "factsToRemove": []}`;
  const { text } = await generateText({ model, prompt });
  assert.deepEqual(JSON.parse(text), { newFacts: [], factsToRemove: [{ id: 2, quote: "" }] });
});
