import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ProviderServerOptions, startProviderServer } from "@palimpsest/testing";
import { type Desk, desk } from "../test/binary.ts";

/** A title, a cleared screen, a link, C1, a carriage return, and text turned around. */
const NASTY = "\u001b]0;owned\u0007\u001b[2J\u001b]8;;http://x\u001b\\\u009b31m\rgone\u202egnp\u2066";
const STEERS = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

interface Play {
  readonly name: string;
  /** What makes the command meet foreign text; its last result is judged with and without `--json`. */
  readonly provider?: ProviderServerOptions;
  readonly arrange?: (at: Desk) => Promise<unknown> | undefined;
  readonly args: (at: Desk) => readonly string[];
  /** The foreign words do get there. */
  readonly shows: RegExp;
}

const imported = (at: Desk) =>
  at.run("import", at.file("chat.json", JSON.stringify([{ role: "user", content: `mill ${NASTY}` }])), "--thread", "t");
const calls = (name: string, input: object): ProviderServerOptions => ({
  respond: ({ turns }) => (turns.at(-1)?.role === "tool" ? `done ${NASTY}` : { text: NASTY, calls: [{ name, input }] }),
});
const plays: readonly Play[] = [
  { name: "an answer", provider: { respond: () => `words ${NASTY}` }, args: () => ["run", "hi"], shows: /words/ },
  {
    name: "a question of the agent",
    provider: calls("ask_clarification", { question: `Which? ${NASTY}`, options: [`one ${NASTY}`, "two"] }),
    args: () => ["run", "hi"],
    shows: /Which\?/,
  },
  { name: "a tool's name", provider: calls(`tool${NASTY}`, {}), args: () => ["run", "hi"], shows: /done/ },
  {
    name: "a provider's error",
    provider: { faults: () => ({ kind: "server-error", status: 400, message: `refused ${NASTY}` }) },
    args: () => ["run", "hi"],
    shows: /refused/,
  },
  {
    name: "why a call is tried again",
    provider: { faults: { 0: { kind: "server-error", message: `sorry ${NASTY}` } } },
    args: () => ["run", "hi"],
    shows: /sorry|ok/,
  },
  { name: "view", arrange: imported, args: () => ["view", "t"], shows: /mill/ },
  { name: "replay", arrange: imported, args: () => ["replay", "t"], shows: /mill/ },
  { name: "threads", arrange: imported, args: () => ["threads"], shows: /mill/ },
  { name: "search", arrange: imported, args: () => ["search", "t", "mill"], shows: /mill/ },
  { name: "context", arrange: imported, args: () => ["context", "t"], shows: /t/ },
  {
    name: "an import of an unknown block",
    args: (at) => [
      "import",
      at.file("odd.json", JSON.stringify([{ role: "user", content: [{ type: `odd${NASTY}` }] }])),
      "--thread",
      "t",
    ],
    shows: /odd/,
  },
  {
    name: "an import of no JSON",
    args: (at) => ["import", at.file("no.json", `{"a": ${NASTY}`), "--thread", "t"],
    shows: /JSON/i,
  },
  {
    name: "config check",
    args: (at) => [
      "config",
      "check",
      at.file("config.yaml", `"key${escaped(NASTY)}": 1\nlog_level: "x${escaped(NASTY)}"\n`),
    ],
    shows: /key/,
  },
  {
    name: "memory add",
    args: () => ["memory", "add", `User likes ${NASTY.replaceAll("\0", "")}`],
    shows: /likes|refused|control/i,
  },
  { name: "a thread's name", args: () => ["view", `bad${NASTY}`], shows: /bad/ },
  { name: "a command nobody knows", args: () => [`com${NASTY}`], shows: /com/ },
];

for (const { name, provider, arrange, args, shows } of plays) {
  test(`${name}: nothing foreign steers the terminal, with and without --json`, async (t) => {
    const at = desk(t);
    const config = provider === undefined ? [] : await withProvider(t, at, provider);
    await arrange?.(at);
    for (const format of [[], ["--json"]]) {
      const { stdout, stderr } = await at.run(...args(at), ...config, ...format);
      assert.match(stdout + stderr, shows);
      assert.doesNotMatch(stdout, STEERS);
      assert.doesNotMatch(stderr, STEERS);
    }
  });
}

test("a chat's lines, tool calls, questions and errors steer nothing either", async (t) => {
  const at = desk(t);
  const config = await withProvider(t, at, {
    respond: ({ index }) => {
      if (index === 0) return { text: NASTY, calls: [{ name: `tool${NASTY}`, input: { path: NASTY } }] };
      if (index === 2) return { calls: [{ name: "ask_clarification", input: { question: NASTY, options: [NASTY] } }] };
      return `answer ${NASTY}`;
    },
    faults: { 3: { kind: "server-error", status: 400, message: `refused ${NASTY}` } },
  });
  const lines = ["one", "two", "three", "/tools", "/threads", "/search one", `/model ${NASTY}`, `/${NASTY}`];
  const { stdout, stderr } = await at.piped(lines, "chat", "--thread", "t", ...config);
  assert.match(stdout, /answer/);
  assert.match(stdout, /refused/);
  assert.doesNotMatch(stdout, STEERS);
  assert.doesNotMatch(stderr, STEERS);
});

test("replay --raw gives another program every byte", async (t) => {
  const at = desk(t);
  await imported(at);
  const { stdout } = await at.run("replay", "t", "--raw");
  assert.equal(JSON.parse(stdout).content, `mill ${NASTY}`);
  assert.ok(stdout.includes("\u202e"));
});

/** Names a configuration whose model is this provider. */
async function withProvider(t: TestContext, at: Desk, options: ProviderServerOptions): Promise<readonly string[]> {
  const server = await startProviderServer(options);
  t.after(() => server.close());
  const model = `{name: fake, provider: openai-compatible, model: fake, base_url: "${server.url}", api_key: key}`;
  return ["--config", at.file("provider.yaml", `models:\n  - ${model}\nmemory: {enabled: false}\n`)];
}

/** For a string of YAML. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
