// How a prompt, a thread and a directory to work in are given to `run` and `chat`, through the real binary.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk, palimpsest } from "../test/binary.ts";

test("run takes its prompt from a pipe: with -, without a prompt, and behind one", async (t) => {
  const at = desk(t);
  const said = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await at.piped(["The harbor opens in 1932.", "It is deep."], "run", ...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.match(await said("-"), /The harbor opens/);
  assert.match(await said(), /The harbor opens/);
  await said("Keep this:", "-", "--thread", "t");
  const { document } = await at.json("replay", "t");
  const [first] = document["messages"] as { content: unknown }[];
  assert.match(JSON.stringify(first?.content), /Keep this:\\n\\nThe harbor opens in 1932\.\\nIt is deep\./);
  assert.equal((await at.piped([], "run", "-")).code, 2, "an empty pipe");
  assert.equal((await at.run("run", "two", "words")).code, 2);
});

test("--continue goes on with the newest thread, and not where --thread names one or there is none", async (t) => {
  const at = desk(t);
  const none = await at.run("run", "Hello.", "--continue");
  assert.deepEqual([none.code, /no thread to go on with/.test(none.stderr)], [1, true], none.stderr);
  await at.run("run", "The first.", "--thread", "a");
  await at.run("run", "The second.", "--thread", "b");
  assert.equal((await at.json("run", "Go on.", "--continue")).document["thread"], "b");
  const piped = await at.piped(["And on."], "chat", "--continue");
  assert.match(piped.stdout, /palimpsest · b · /);
  assert.equal((await at.run("run", "Hello.", "--continue", "--thread", "a")).code, 2);
  await at.run("run", "The third.", "--thread", "c", "--agent", "writer");
  await at.run("run", "The fourth.", "--thread", "d");
  assert.equal((await at.json("run", "On.", "--continue", "--agent", "writer")).document["thread"], "c");
  const nobody = await at.run("run", "On.", "--continue", "--agent", "nobody");
  assert.match(nobody.stderr, /no thread of the agent "nobody" to go on with/);
});

test("--workspace lets the agent work on a directory's files once it was allowed, and never outside of it", async (t) => {
  const at = desk(t);
  const project = at.file("project");
  mkdirSync(project);
  writeFileSync(join(project, "list.txt"), "two eggs");
  writeFileSync(at.file("secret.txt"), "a-word-from-elsewhere");
  symlinkSync(at.file("secret.txt"), join(project, "link.txt"));
  const env = { PALIMPSEST_HOME: at.home, XDG_STATE_HOME: at.file("state") };
  const run = (...args: readonly string[]) => palimpsest(args, env);
  const refused = await run("run", "read list.txt", "--workspace", project);
  assert.deepEqual([refused.code, /palimpsest trust --workspace/.test(refused.stderr)], [1, true], refused.stderr);
  assert.equal((await run("trust", "--workspace", project)).code, 0);
  assert.match((await run("run", "read list.txt", "--workspace", project)).stdout, /two eggs/);
  await run("run", 'write "three eggs" to more.txt', "--workspace", project);
  assert.equal(readFileSync(join(project, "more.txt"), "utf8").trim(), "three eggs");
  for (const way of ["read link.txt", "read ../secret.txt"])
    assert.doesNotMatch((await run("run", way, "--workspace", project, "--json")).stdout, /a-word-from-elsewhere/, way);
  await run("run", 'write "fsmonitor" to .git/config', "--workspace", project);
  assert.ok(!existsSync(join(project, ".git")));
  const unprotected = ["--config", at.file("config.yaml", "workspace: {protected: []}\n")];
  await run("run", 'write "fsmonitor" to .git/config', "--workspace", project, ...unprotected);
  assert.ok(existsSync(join(project, ".git/config")));
  assert.equal((await run("trust", "--workspace", project, "--remove")).code, 0);
  assert.equal((await run("run", "read list.txt", "--workspace", project)).code, 1);
});

test("--workspace refuses a directory that isn't there, and one that holds the home", async (t) => {
  const at = desk(t);
  const missing = await at.run("run", "Hello.", "--workspace", at.file("nowhere"));
  assert.deepEqual([missing.code, /There is no directory/.test(missing.stderr)], [1, true]);
  const around = await at.run("run", "Hello.", "--workspace", join(at.home, ".."));
  assert.deepEqual([around.code, /holds the home/.test(around.stderr)], [1, true], around.stderr);
  assert.equal((await at.run("run", "Hello.", "--workspace", "")).code, 2);
});
