import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { HomeError, locateHome, openHome } from "./open-home.ts";

/** A machine of somebody's: their home directory, a project, and nothing of this process's environment. */
function machine(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "palimpsest-home-"));
  t.after(() => rmSync(root, { recursive: true }));
  const cwd = join(root, "project");
  mkdirSync(cwd);
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  return { root, cwd, write, env: { HOME: join(root, "me") } };
}

test("a home is opened with its settings, its threads, its agent and its memory, and closed", async (t) => {
  const { root, cwd, env, write } = machine(t);
  write("h/config.yaml", "title: {max_words: 2}\n");
  const home = await openHome({ home: join(root, "h"), cwd, env, userId: "ada" });
  const { agent, memory } = await home.agent();
  t.after(async () => {
    await memory?.close(0);
    await home.close();
  });
  assert.equal((await home.settings()).title.max_words, 2);
  await agent.generate({ threadId: "t", prompt: "my parser reads its tokens one by one" });
  const { threads } = await home.store.threads({ limit: 5 });
  assert.deepEqual([threads[0]?.title, threads[0]?.header.user], ["my parser…", "ada"]);
  assert.deepEqual((await (await home.memory(home.store)).read({ userId: "ada", agentName: null })).facts, []);
});

test("a home of a stranger is looked at without waiting for its pipes", (t) => {
  const { root, cwd, env } = machine(t);
  const home = join(cwd, ".palimpsest");
  mkdirSync(join(home, "skills"), { recursive: true });
  const pipes = ["config.yaml", "palimpsest.db", "memory.json", "AGENTS.md", "skills/SKILL.md"].map((name) =>
    join(home, name),
  );
  for (const pipe of pipes) execFileSync("mkfifo", [pipe]);
  const located = spawnSync(
    process.execPath,
    ["--conditions=palimpsest-source", "--input-type=module", "-e", LOOK, cwd, join(root, "me")],
    { cwd: import.meta.dirname, encoding: "utf8", timeout: 20_000, env: { ...process.env, ...env } },
  );
  assert.deepEqual([located.signal, located.stdout.trim(), located.stderr], [null, "untrusted", ""]);
});

const LOOK = `const { locateHome } = await import("./open-home.ts");
const [cwd, HOME] = process.argv.slice(1);
try { await locateHome({ cwd, env: { HOME } }).settings(); } catch (error) { console.log(error.code); }`;

test("closing a home ends the memory of its agents before its store: what is being learned is written down", async (t) => {
  const { root, cwd, env, write } = machine(t);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const server = await startProviderServer({
    async respond({ index }) {
      if (index === 0) return "Hello, Ada.";
      asked.resolve();
      return answer.promise;
    },
  });
  t.after(() => server.close());
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none}`;
  write("h/config.yaml", `models: [${model}]\n`);
  const home = await openHome({ home: join(root, "h"), cwd, env });
  const { agent, memory } = await home.agent();
  await agent.generate({ threadId: "t", prompt: "My name is Ada." });
  await memory!.queue.makeDue({ userId: home.userId, threadId: "t" });
  await asked.promise;
  const closing = home.close();
  answer.resolve("{}");
  await closing;
  const again = await openHome({ home: join(root, "h"), cwd, env });
  t.after(() => again.close());
  const jobs = await again.store.outbox!.list("memory");
  assert.deepEqual(
    jobs.map(({ state }) => state).filter((state) => state === "running"),
    [],
  );
});

test("locating a home makes nothing, and says which it is and why", async (t) => {
  const { root, cwd, env } = machine(t);
  const located = locateHome({ cwd, env });
  assert.deepEqual(located.place, { directory: join(root, "me/.local/share/palimpsest"), reason: "user" });
  assert.equal(await located.hasStore(), false);
  assert.equal(await located.configuration(), null);
  assert.deepEqual(readdirSync(root), ["project"]);
});

test("a configuration that was found and would send a key away is refused, or used once trusted", async (t) => {
  const { cwd, env, write } = machine(t);
  write("project/config.yaml", "models: [{name: a, provider: openai, model: m, base_url: http://127.0.0.1:1/v1}]\n");
  const refused = locateHome({ cwd, env });
  await assert.rejects(refused.settings(), (error) => HomeError.isInstance(error) && error.code === "untrusted");
  const asked: string[] = [];
  const trusting = locateHome({
    cwd,
    env,
    trust: async ({ powers }) => {
      asked.push(...powers.map(({ key }) => key));
      return true;
    },
  });
  assert.equal((await trusting.settings()).models[0]?.name, "a");
  assert.deepEqual(asked, ["models.0.base_url"]);
  assert.equal((await locateHome({ cwd, env }).settings()).models[0]?.name, "a", "trusted from then on");
});

test("a home that is a file and a configuration that is wrong are errors with a code", async (t) => {
  const { root, cwd, env, write } = machine(t);
  write("file", "");
  await assert.rejects(
    openHome({ home: join(root, "file"), cwd, env }),
    (error) => HomeError.isInstance(error) && error.code === "home-not-a-directory",
  );
  write("h/config.yaml", "models: 5\n");
  await assert.rejects(
    openHome({ home: join(root, "h"), cwd, env }),
    (error) => HomeError.isInstance(error) && error.code === "config" && /models is 5/.test(error.message),
  );
});
