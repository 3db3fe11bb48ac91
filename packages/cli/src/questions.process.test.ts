// Questions to a person at a terminal: `config init`, `threads delete`, `--workspace`.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk } from "../test/binary.ts";
import { openTerminal } from "../test/terminal.ts";

test("config init asks four questions, offers what the environment has, and takes answers that were pasted ahead", async (t) => {
  const { home } = desk(t);
  const terminal = openTerminal(t, { home, env: { OPENAI_API_KEY: "sk-secret" } }, "config", "init");
  await terminal.until(/Keys found: OpenAI \(\$OPENAI_API_KEY\).*Provider .*\[openai\]:/s);
  terminal.type("\ngpt-4o\n\n\n");
  assert.equal(await terminal.exit(), 0, terminal.screen());
  assert.match(
    readFileSync(join(home, "config.yaml"), "utf8"),
    /provider: openai\n +model: gpt-4o\n +api_key: \$OPENAI_API_KEY\n$/,
  );
});

test("threads delete asks in a terminal, and anything but yes keeps the thread", async (t) => {
  const at = desk(t);
  await at.run("run", "Hello.", "--thread", "a");
  const refusing = openTerminal(t, at.home, "threads", "delete", "a");
  await refusing.until(/Delete 1 thread for good\? \[y\/N\]/);
  refusing.type("\n");
  assert.equal(await refusing.exit(), 1);
  const agreeing = openTerminal(t, at.home, "threads", "delete", "a");
  await agreeing.until(/for good\?/);
  agreeing.type("y\n");
  assert.equal(await agreeing.exit(), 0, agreeing.screen());
  assert.deepEqual((await at.json("threads")).document["threads"], []);
});

test("--workspace asks once about a directory", async (t) => {
  const at = desk(t);
  const project = at.file("project");
  mkdirSync(project);
  const env = { XDG_STATE_HOME: at.file("state") };
  const first = openTerminal(t, { home: at.home, env }, "run", "Hello.", "--workspace", project);
  await first.until(/read, change and delete files in .*project.*Allow it/s);
  first.type("y\n");
  assert.equal(await first.exit(), 0, first.screen());
  const second = openTerminal(t, { home: at.home, env }, "run", "Hello.", "--workspace", project);
  assert.equal(await second.exit(), 0, second.screen());
  assert.doesNotMatch(second.screen(), /Allow it/);
});
