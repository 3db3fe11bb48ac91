// The chat as a person at a terminal has it: keys in, the screen out, through the real binary.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { startProviderServer } from "palimpsest/testing";
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
  assert.match(chat.screen(), /Go on with: palimpsest chat --thread t/);
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
  idle.type(CTRL_C);
  await idle.until(/\(Ctrl-C again leaves\)/);
  idle.type(CTRL_C);
  assert.equal(await idle.exit(), 0);
});

test("lines pasted together are one message; what is typed can be edited, and nothing passing is left on the screen", async (t) => {
  const at = desk(t);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("\u001b[200~The mill has\nfour wheels\nof oak.\u001b[201~");
  await chat.until(/four wheels⏎of oak\./);
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
