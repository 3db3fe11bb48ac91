// Tools that a person is asked about: at a terminal they are asked, elsewhere the call isn't run and that is said.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { type ProviderServerOptions, startProviderServer } from "@palimpsest/testing";
import { type Desk, desk } from "../test/binary.ts";
import { CTRL_C, CTRL_D, openTerminal } from "../test/terminal.ts";

const CALL = { name: "write_file", input: { path: "note.txt", content: "two eggs\nand milk", append: false } };
type Respond = NonNullable<ProviderServerOptions["respond"]>;
const ONCE: Respond = ({ body }) => {
  const last = (body?.["messages"] as { role: string }[] | undefined)?.at(-1);
  return last?.role === "user" ? { calls: [CALL] } : "It is done.";
};
const WORDS = "all of it, word by word, until the end of the whole long story that was asked for ".repeat(4);

/** A home whose model wants to write a file, which a person must allow. */
async function askingDesk(t: TestContext, more = "", respond = ONCE): Promise<Desk> {
  const at = desk(t);
  const server = await startProviderServer({ respond });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 32000}`;
  writeFileSync(
    `${at.home}/config.yaml`,
    `models:\n  - ${model}\nmemory:\n  enabled: false\ntitle:\n  enabled: false\napproval:\n  tools: [write_file]\n${more}`,
  );
  return at;
}

async function resultsOf(at: Desk, threadId: string): Promise<string> {
  const { document } = await at.json("replay", threadId);
  return JSON.stringify((document["messages"] as { role: string }[]).filter(({ role }) => role === "tool"));
}

test("chat shows the whole call and asks: y runs it and the agent goes on, n refuses it and the model is told", async (t) => {
  const at = await askingDesk(t);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("Write it down.\r");
  await chat.until(
    /The agent wants to run write_file:\n {2}path: note\.txt\n {2}content: two eggs\n {4}and milk\n.*^Run it\? \[y\/n\/a\] > $/ms,
  );
  chat.type("y\r");
  await chat.until(/> write_file note\.txt · .*It is done\..*^> $/ms);
  chat.type("Again.\r");
  await chat.until(/Again\..*^Run it\? \[y\/n\/a\] > $/ms);
  chat.type("n\r");
  await chat.until(/Again\..*It is done\..*^> $/ms);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.match(await resultsOf(at, "t"), /note\.txt.*refused/s);
});

test("chat: a runs this tool without asking while the chat is open, and the next chat asks again", async (t) => {
  const at = await askingDesk(t);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("Write it down.\r");
  await chat.until(/^Run it\? \[y\/n\/a\] > $/m);
  chat.type("a\r");
  await chat.until(/It is done\..*^> $/ms);
  chat.type("Again.\r");
  await chat.until(/Again\.\n.*> write_file note\.txt · .*It is done\..*^> $/ms);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  const later = openTerminal(t, at.home, "chat", "--thread", "t");
  await later.until(/^> $/m);
  later.type("Once more.\r");
  await later.until(/^Run it\? \[y\/n\/a\] > $/m);
  later.type(CTRL_D);
  assert.equal(await later.exit(), 0);
});

test("chat: what was typed ahead answers no question, another text refuses the call and is said, and a call waits through a restart", async (t) => {
  const at = await askingDesk(t);
  const chat = openTerminal(t, at.home, "chat", "--thread", "t");
  await chat.until(/^> $/m);
  chat.type("Write it down.\ryes\r");
  await chat.until(/^ {2}queued: yes\nRun it\? \[y\/n\/a\] > $/m);
  chat.type(`half${CTRL_C}`);
  await chat.until(/\[y\/n\/a\] > \n\(Ctrl-C again leaves\)/);
  chat.type("/search nothing\r");
  await chat.until(/\/search nothing\n.*^Run it\? \[y\/n\/a\] > $/ms);
  chat.type(CTRL_D);
  assert.equal(await chat.exit(), 0);
  assert.match(chat.screen(), /\(not said: yes\)/);
  const later = openTerminal(t, at.home, "chat", "--thread", "t");
  await later.until(/The agent wants to run write_file:.*^Run it\? \[y\/n\/a\] > $/ms);
  later.type("Tell me a joke instead.\r");
  await later.until(/Tell me a joke instead\..*The agent wants to run write_file:.*^Run it\? \[y\/n\/a\] > $/ms);
  later.type(CTRL_D);
  assert.equal(await later.exit(), 0);
  assert.ok(!(await resultsOf(at, "t")).includes("Wrote"), "it was never run");
});

test("chat through a pipe: the call isn't run, that is said, and the exit code is 1", async (t) => {
  const at = await askingDesk(t);
  const { code, stdout } = await at.piped(["Write it down.", "yes"], "chat", "--thread", "t");
  assert.equal(code, 1);
  assert.match(stdout, /Not run: write_file\..*without a terminal; to decide: .* chat --thread t/);
  assert.ok(!(await resultsOf(at, "t")).includes("Wrote"), "the line behind it is said and is no answer");
});

test("run asks in a terminal and goes on with the answer", async (t) => {
  const at = await askingDesk(t);
  for (const [answer, done] of [
    ["y", true],
    ["\r", false],
  ] as const) {
    const run = openTerminal(t, at.home, "run", "Write it down.", "--thread", `t${done}`);
    await run.until(
      /The agent wants to run write_file:\n {2}path: note\.txt.*Run it\? \[y\]es, \[N\]o, \[a\]lways now: /s,
    );
    run.type(`${answer}\r`);
    await run.until(/It is done\./);
    assert.equal(await run.exit(), 0);
    assert.equal((await resultsOf(at, `t${done}`)).includes("refused"), !done);
  }
});

test("run without a terminal doesn't run the call and says how to decide: exit code 1, in JSON with the call", async (t) => {
  const at = await askingDesk(t);
  const { code, stderr } = await at.run("run", "Write it down.", "--thread", "t");
  assert.equal(code, 1);
  assert.match(stderr, /Not run: write_file\. It needs your approval.*to decide: .*chat --thread t\n/);
  const { code: again, document } = await at.json("run", "Write it down.", "--thread", "u");
  assert.deepEqual([again, document["end"]], [1, "approval"]);
  const [call] = document["calls"] as { name: string; input: unknown }[];
  assert.deepEqual([call?.name, call?.input], [CALL.name, CALL.input]);
});

test("run says that what a run may use is used up: exit code 1, in JSON with what was spent", async (t) => {
  const respond: Respond = () => ({
    text: WORDS,
    calls: [{ name: "ls", input: { path: "." } }],
  });
  const at = await askingDesk(t, "limits:\n  run_tokens: 12000\n", respond);
  const { code, stderr } = await at.run("run", "Go on and on.", "--thread", "t");
  assert.equal(code, 1, stderr);
  assert.match(stderr, /Stopped after [\d,]+ tokens: the next call would go beyond limits\.run_tokens/);
  const { code: again, document } = await at.json("run", "Go on and on.", "--thread", "u");
  assert.deepEqual([again, document["end"]], [1, "budget"]);
  assert.ok((document["spent"] as { tokens: number }).tokens > 0);
});

test("a name in approval.tools that no tool has is told, with the one that may be meant", async (t) => {
  const at = await askingDesk(t);
  writeFileSync(`${at.home}/config.yaml`, "approval:\n  tools: [bsh]\n");
  const { code, stderr } = await at.run("run", "Hello.", "--thread", "t");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /warning: approval\.tools names "bsh", which no tool is called: did you mean bash\?/);
});
