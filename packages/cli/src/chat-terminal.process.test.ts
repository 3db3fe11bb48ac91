// The chat as a person at a terminal has it: keys in, the screen out, through the real binary.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { type Desk, desk } from "../test/binary.ts";
import { CTRL_C, CTRL_D, LEFT, openTerminal } from "../test/terminal.ts";

const LONG = "One word follows the other until somebody has heard enough of it. ".repeat(20);

/** A chat with a model whose first answer never ends. */
async function chatWithSlowModel(t: TestContext): Promise<{ at: Desk; chat: ReturnType<typeof openTerminal> }> {
  const at = desk(t);
  const server = await startProviderServer({
    respond: ({ index }) => (index === 0 ? LONG : "A short answer."),
    faults: { 0: { kind: "stall", afterEvents: 12 } },
  });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: slow, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\nmemory:\n  enabled: false\n`);
  return { at, chat: openTerminal(t, at.home, "chat", "--thread", "t") };
}

test("Ctrl-C stops the answer, what was shown of it stays, and the chat goes on; Ctrl-D leaves", async (t) => {
  const { at, chat } = await chatWithSlowModel(t);
  await chat.until(/^> $/m);
  chat.type("Tell me a story.\r");
  await chat.until(/One word follows/);
  chat.type(CTRL_C);
  await chat.until(/\(stopped; what was said so far is kept\)/);
  chat.type("Shorter, please.\r");
  await chat.until(/A short answer\.\n.*context \d+ %/);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.match(chat.screen(), /Go on with: npx palimpsest chat --thread t/);
  const { document } = await at.json("replay", "t");
  const texts = JSON.stringify(document["messages"]);
  assert.ok(texts.includes("One word follows") && texts.includes("A short answer."));
});

test("Ctrl-C twice leaves: during an answer, and with nothing going on", async (t) => {
  const { chat } = await chatWithSlowModel(t);
  await chat.until(/^> $/m);
  chat.type("Tell me a story.\r");
  await chat.until(/One word follows/);
  chat.type(CTRL_C + CTRL_C);
  assert.equal(await chat.exit(), 0);

  const idle = openTerminal(t, desk(t).home, "chat");
  await idle.until(/^> $/m);
  idle.type("abc def");
  await idle.until(/^> abc def$/m);
  idle.type(CTRL_C);
  await idle.until(/^> \n\(Ctrl-C again leaves\)/m);
  // Both at once: on a busy machine the first may be too long ago by now.
  idle.type(CTRL_C + CTRL_C);
  assert.equal(await idle.exit(), 0);
});

test("lines pasted together are one message; what is typed can be edited, and nothing passing is left on the screen", async (t) => {
  const at = desk(t);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("\u001b[200~The mill has\nfour wheels\nof oak.\u001b[201~");
  await chat.until(/^> The mill has\n\. four wheels\n\. of oak\./m);
  chat.type("\r");
  await chat.until(/\[offline\].*context \d+ %/s);
  chat.type(`The miler${LEFT}${LEFT}l`);
  await chat.until(/^> The miller$/m);
  chat.type("\r");
  await chat.until(/The miller.*\[offline\].*context \d+ %/s);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.ok(!chat.screen().includes("thinking"), chat.screen());
  const { document } = await at.json("replay", "t");
  const said = (document["messages"] as { role: string; content: string }[]).filter(({ role }) => role === "user");
  assert.deepEqual(
    said.map(({ content }) => content),
    ["The mill has\nfour wheels\nof oak.", "The miller"],
  );
});

test("Ctrl-D while an answer comes stops it and leaves with 0 and the way back; what was queued is shown as not said", async (t) => {
  const { chat } = await chatWithSlowModel(t);
  await chat.until(/^> $/m);
  chat.type("Tell me a story.\r");
  await chat.until(/One word follows/);
  chat.type("And another one.\r");
  await chat.until(/queued: And another one\./);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.match(chat.screen(), /\(not said: And another one\.\)\n.*Go on with: npx palimpsest chat --thread t\n/s);
});

test("what is typed while an answer comes stands in a line of its own, is said when its turn comes, and shown then", async (t) => {
  const { at, chat } = await chatWithSlowModel(t);
  await chat.until(/^> $/m);
  chat.type("Tell me a story.\r");
  await chat.until(/One word follows/);
  chat.type("typed ahead");
  await chat.until(/^> typed ahead$/m);
  chat.type("\r");
  await chat.until(/queued: typed ahead\n> $/m);
  chat.type("half a li");
  await chat.until(/> half a li$/m);
  chat.type(CTRL_C);
  // What was queued comes back into the line.
  await chat.until(/^> typed ahead\n\. half a li$/m);
  chat.type("ne\r");
  await chat.until(/^> typed ahead\n\. half a line\nA short answer\./m);
  chat.type("one more\r/memory\r");
  await chat.until(/^> one more\nA short answer\..*^> \/memory\n/ms);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  const texts = JSON.stringify((await at.json("replay", "t")).document["messages"]);
  assert.ok(texts.includes("typed ahead\\nhalf a line"));
});

test("Ctrl-C at the prompt clears what was typed for good", async (t) => {
  const at = desk(t);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("abc def");
  await chat.until(/^> abc def$/m);
  chat.type(CTRL_C);
  await chat.until(/again leaves/);
  chat.type("xyz\r");
  await chat.until(/You said: "xyz"/);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
});

test("from the first moment of a model call the chat says that it thinks, for how long, and how large the window is", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({ respond: () => LONG, faults: { 0: { kind: "stall", afterEvents: 0 } } });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: slow, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 16000}`;
  writeFileSync(
    `${at.home}/config.yaml`,
    `models:\n  - ${model}\nmemory:\n  enabled: false\nsummarization:\n  enabled: false\n`,
  );
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("Tell me a story.\r");
  await chat.until(/^\S \d+ s · (?:context .*of|window of) 16k · thinking\n> $/m);
  chat.type(CTRL_C + CTRL_C);
  assert.equal(await chat.exit(), 0);
});

test("going on with a thread shows its last exchange; /edit puts the last message into the line", async (t) => {
  const at = desk(t);
  await at.run("run", "The mill has four wheels.", "--thread", "t");
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> The mill has four wheels\.\n\[offline\] You said.*^context \d+ %.*^> $/ms);
  chat.type("/edit\r");
  await chat.until(/^> \/edit The mill has four wheels\.$/m);
  chat.type(`${BACKSPACE.repeat(7)}doors\r`);
  await chat.until(/You said: "The mill has four doors"/);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.match(chat.screen(), /chat --thread t-fork-\d+\n/);
});

test("going on with a thread shows its last answer without the signs of Markdown, as it was shown when it came", async (t) => {
  const at = desk(t);
  const answer = "## Wheels\n\n- **four** of oak\n- one of `iron`";
  const said = [
    { role: "user", content: "What is in the mill?" },
    { role: "assistant", content: answer },
  ];
  const file = at.file("mill.jsonl", said.map((message) => JSON.stringify(message)).join("\n"));
  assert.equal((await at.run("import", file, "--thread", "t")).code, 0);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> What is in the mill\?\nWheels\n\n[-•] four of oak\n[-•] one of iron$/m);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
});

const BACKSPACE = "\u007f";

test("a terminal made narrower draws its last rows anew, and nothing is shown twice", async (t) => {
  const chat = openTerminal(t, desk(t).home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("a long line that will not fit into the narrow window that comes next");
  await chat.until(/comes next$/m);
  chat.resize(40);
  await chat.until(/^> a long line that will not fit into th\ne narrow window that comes next$/m);
  chat.type(`${CTRL_C}/help\r`);
  await chat.until(/^ {2}\/compact \[focus\] {2}hide the older part\n {20}behind a summary;$/m);
  await chat.until(/\/rules \[add\] +the standing.*\/summary \[edit\] +the summary/s);
  chat.type(CTRL_C + CTRL_C);
  assert.equal(await chat.exit(), 0);
});

test("Ctrl-X Ctrl-E opens the line in the person's editor and takes what they made of it", async (t) => {
  const at = desk(t);
  const editor = at.file("editor.mjs", EDITOR);
  const env = { EDITOR: `"${process.execPath}" "${editor}"` };
  const chat = openTerminal(t, { home: at.home, env }, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("first\u0018\u0005");
  await chat.until(/^> FIRST\n\. second$/m);
  chat.type("\r");
  await chat.until(/You said: "FIRST second"/);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
});

const EDITOR = `import { readFileSync, writeFileSync } from "node:fs";
const [file] = process.argv.slice(2);
writeFileSync(file, readFileSync(file, "utf8").toUpperCase() + "second\\n");
`;

test("what the calls cost is told by /cost and at the end, where the model has a price", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({ respond: () => "A short answer." });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: paid, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, pricing: {input: 2, output: 8}}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\nmemory:\n  enabled: false\n`);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("Hello.\r/cost\r");
  await chat.until(/^> \/cost\n\d+ model calls?: [\d,]+ tokens in, \d+ out; spent \$0\.\d+/m);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.match(chat.screen(), /pent \$0\.\d+.*\n.*Go on with/);
});

test("a provider's key that is in the environment is offered by the banner, without being shown", async (t) => {
  const at = desk(t);
  const env = { ANTHROPIC_API_KEY: "sk-not-to-be-shown" };
  const chat = openTerminal(t, { home: at.home, env }, "chat");
  await chat.until(/^\$ANTHROPIC_API_KEY is set; to use it: npx palimpsest config init\n.*^> $/ms);
  assert.ok(!chat.screen().includes("sk-not"), chat.screen());
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
});

test("what is typed before the chat is there is said line by line, as later", async (t) => {
  const chat = openTerminal(t, desk(t).home, "chat");
  chat.type("first line\nsecond line\n");
  await chat.until(/^> first line$[\s\S]*^> second line$/m);
  await chat.until(/^> $/m);
});

test("after a resize the next answer is broken at the new width", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({ respond: () => LONG });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\nmemory:\n  enabled: false\n`);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.resize(40);
  chat.type("Go on.\r");
  await chat.until(/enough\s+of\s+it\.\s+context \d+ %/);
  const answer = chat
    .screen()
    .split("\n")
    .filter((line) => line.includes("somebody"));
  assert.ok(answer.length > 10 && answer.every((line) => line.length <= 40), answer.join("\n"));
});
