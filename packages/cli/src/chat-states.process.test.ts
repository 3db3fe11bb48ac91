// Every key at every state of a chat, at a terminal and through the real binary: idle, asking, thinking, streaming, while
// a tool runs, while a summary is written. The same keys do the same everywhere.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { type ProviderServerOptions, startProviderServer } from "@palimpsest/testing";
import { desk } from "../test/binary.ts";
import { exchanges, importMessages } from "../test/conversations.ts";
import { CTRL_C, CTRL_D, LEFT, openTerminal, type Terminal } from "../test/terminal.ts";

interface State {
  readonly name: string;
  /** What is typed to get there, and what the screen shows then. */
  readonly enter: string;
  readonly shown: RegExp;
  /** What Ctrl-C shows there. */
  readonly stopped: RegExp;
  readonly work: "goes on" | "waits for a line";
  readonly thread?: "imported";
  /** What stands before the line there, as a pattern. */
  readonly prompt?: string;
  readonly provider: ProviderServerOptions;
}

const LONG = "One word follows the other until somebody has heard enough of it. ".repeat(20);
const stall = { kind: "stall", afterEvents: 0 } as const;

const STATES: readonly State[] = [
  {
    name: "idle",
    thread: "imported",
    enter: "",
    shown: /^> $/m,
    stopped: /^\(Ctrl-C again leaves\)$/m,
    work: "waits for a line",
    provider: {},
  },
  {
    name: "asking",
    enter: "Paint it.\r",
    shown: /Which color\?\n +1\. red\n +2\. blue\n.*^> $/ms,
    stopped: /^\(Ctrl-C again leaves\)$/m,
    work: "waits for a line",
    provider: {
      respond: ({ index }) =>
        index > 0
          ? "It is blue now."
          : { calls: [{ name: "ask_clarification", input: { question: "Which color?", options: ["red", "blue"] } }] },
    },
  },
  {
    name: "approving",
    enter: "Write it down.\r",
    shown: /^Run it\? \[y\/n\/a\] > $/m,
    stopped: /^\(Ctrl-C again leaves\)$/m,
    work: "waits for a line",
    prompt: String.raw`Run it\? \[y\/n\/a\] > `,
    provider: { respond: () => ({ calls: [{ name: "write_file", input: { path: "a.txt", content: "x" } }] }) },
  },
  {
    name: "thinking",
    enter: "Think.\r",
    shown: /^\S \d+ s · .*thinking\n> $/m,
    stopped: /\(stopped; what was said so far is kept\)/,
    work: "goes on",
    provider: { faults: { 0: stall } },
  },
  {
    name: "streaming",
    enter: "Tell me a story.\r",
    shown: /One word follows[\s\S]*answering\n> $/m,
    stopped: /\(stopped; what was said so far is kept\)/,
    work: "goes on",
    provider: { respond: () => LONG, faults: { 0: { kind: "stall", afterEvents: 12 } } },
  },
  {
    name: "a tool runs",
    enter: "Let somebody else do it.\r",
    shown: /^\S \d+ s · .*(?:task Look around|general.*turn 1 of).*\n> $/m,
    stopped: /\(stopped; what was said so far is kept\)/,
    work: "goes on",
    provider: {
      respond: () => ({ calls: [{ name: "task", input: { description: "Look around", prompt: "Look around." } }] }),
      faults: { 1: stall },
    },
  },
  {
    name: "compacting",
    thread: "imported",
    enter: "/compact\r",
    shown: /^\S \d+ s · .*compacting.*\n> $/m,
    stopped: /Nothing changed \(aborted\)/,
    work: "goes on",
    provider: { faults: { 0: stall } },
  },
];

const BACKSPACE = "\u007f";
const UP = "\u001b[A";
const [CTRL_A, CTRL_E, CTRL_L, CTRL_U, CTRL_W, CTRL_X] = ["\u0001", "\u0005", "\u000c", "\u0015", "\u0017", "\u0018"];

const EDITOR = `import { readFileSync, writeFileSync } from "node:fs";
const [file] = process.argv.slice(2);
writeFileSync(file, readFileSync(file, "utf8").toUpperCase());
`;

/** A chat that has come to the state. */
async function chatAt(t: TestContext, { enter, shown, provider, thread }: State): Promise<Terminal> {
  const at = desk(t);
  const server = await startProviderServer(provider);
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: slow, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 32000}`;
  writeFileSync(
    `${at.home}/config.yaml`,
    `models:\n  - ${model}\nmemory:\n  enabled: false\ntitle:\n  enabled: false\napproval:\n  tools: [write_file]\n`,
  );
  if (thread === "imported") await importMessages(at, "t", exchanges(20));
  const editor = at.file("editor.mjs", EDITOR);
  const env = { EDITOR: `"${process.execPath}" "${editor}"` };
  const chat = openTerminal(t, { home: at.home, env }, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type(enter);
  await chat.until(shown);
  return chat;
}

for (const state of STATES) {
  test(`${state.name}: the line is edited, pasted into, resized and cleared as ever, and Ctrl-C stops or clears`, async (t) => {
    const chat = await chatAt(t, state);
    const { prompt = "> " } = state;
    const line = (text: string) => new RegExp(`^${prompt}${text}$`, "m");
    chat.type(`lone${LEFT}${LEFT}${BACKSPACE}at${CTRL_E}r`);
    await chat.until(line("latner"));
    chat.type(`${CTRL_A}a ${CTRL_E}${CTRL_W}`);
    await chat.until(line("a "));
    chat.type("\u001b[200~pasted\nlines\u001b[201~");
    await chat.until(line("a pasted\\n\\. lines"));
    chat.resize(44);
    chat.type(CTRL_L);
    await chat.until(line("a pasted\\n\\. lines"));
    chat.type(`${CTRL_X}${CTRL_E}`);
    await chat.until(line("A PASTED\\n\\. LINES"));
    chat.type(`${CTRL_U}${BACKSPACE}${CTRL_U}/memo\t`);
    await chat.until(line("/memory ?"));
    chat.type(CTRL_U);
    await chat.until(line(""));
    if (state.work === "goes on") {
      chat.type("later\r");
      await chat.until(/queued: later\n> $/m);
    }
    chat.type(`half${CTRL_C}`);
    await chat.until(state.stopped);
    await chat.until(state.work === "goes on" ? /^> later\n\. half$/m : line(""));
    chat.type(`${CTRL_U}${BACKSPACE}${CTRL_U}${UP}`);
    await chat.until(state.work === "goes on" ? /^> later$/m : line(".*"));
    chat.type(`${CTRL_U}${CTRL_D}`);
    assert.equal(await chat.exit(), 0);
  });

  test(`${state.name}: Ctrl-D leaves with 0 and the way back`, async (t) => {
    const chat = await chatAt(t, state);
    chat.type(CTRL_D);
    assert.equal(await chat.exit(), 0);
    assert.match(chat.screen(), /Go on with: npx palimpsest chat --thread t\n/);
  });

  test(`${state.name}: Ctrl-C twice leaves with 0 and the way back, whatever is in the line`, async (t) => {
    const chat = await chatAt(t, state);
    chat.type(`some words${CTRL_C}${CTRL_C}`);
    assert.equal(await chat.exit(), 0);
    assert.match(chat.screen(), /Go on with: npx palimpsest chat --thread t\n/);
  });
}

test("asking: a number is the answer it stands for", async (t) => {
  const chat = await chatAt(t, STATES.find(({ name }) => name === "asking")!);
  chat.type("2\r");
  await chat.until(/It is blue now\./);
  chat.type("/search blue\r");
  await chat.until(/user: blue/);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
});
