import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deepAgentKit } from "../../../test/agent/agent-kit.ts";
import { usedBy } from "./inside.ts";
import { workspaceTools } from "./middleware.ts";
import { copyWorkspace, prepareWorkspace, type Quota, threadWorkspace, type Workspace } from "./workspace.ts";

const SMALL: Quota = { bytes: 10_000, entries: 10 };
const FULL = /may take 0 MB and 10 files and folders in all.*remove some first/;

test("what is used is counted over all writable folders, and not what the engine keeps", async (t) => {
  const { workspace, at } = await opened(t);
  await writeFile(at("a.txt"), "x".repeat(100));
  await mkdir(at("deep/er"), { recursive: true });
  await writeFile(at("deep/er/b.txt"), "x".repeat(50));
  await writeFile(join(workspace.roots.uploads.directory, "c.txt"), "x".repeat(7));
  await writeFile(join(workspace.roots["tool-outputs"].directory, "d.txt"), "x".repeat(1_000));
  assert.deepEqual(await usedBy(workspace), { bytes: 157, entries: 5 });
});

test("a file that would be too much isn't written; one that takes another's place is", async (t) => {
  const { call } = await opened(t);
  assert.match(await call("write_file", { path: "a.txt", content: "x".repeat(9_000) }), /^Wrote/);
  assert.match(await call("write_file", { path: "b.txt", content: "x".repeat(2_000) }), FULL);
  assert.match(await call("write_file", { path: "a.txt", content: "more".repeat(300), append: true }), FULL);
  assert.match(await call("write_file", { path: "a.txt", content: "x".repeat(10_000) }), /^Wrote/);
  assert.match(await call("str_replace", { path: "a.txt", old_str: "x".repeat(10_000), new_str: "short" }), /a\.txt/);
  assert.match(await call("write_file", { path: "b.txt", content: "x".repeat(2_000) }), /^Wrote/);
});

test("the number of files and folders has a limit, too", async (t) => {
  const { call, at } = await opened(t);
  for (let file = 0; file < 10; file++) await call("write_file", { path: `f${file}`, content: "" });
  assert.match(await call("write_file", { path: "one-more", content: "" }), FULL);
  assert.equal((await readdir(at("."))).length, 10);
});

const commands = [
  ["redirections", "for i in {1..50}; do printf '%01000d' 0 > f$i; done"],
  ["appending", "for i in {1..50}; do printf '%01000d' 0 >> all; done"],
  ["copies", "printf '%03000d' 0 > a; for i in {1..9}; do cp a b$i; done"],
  ["copies of folders", "mkdir d; printf '%03000d' 0 > d/a; for i in {1..9}; do cp -r d e$i; done"],
  ["folders", "for i in {1..50}; do mkdir d$i; done"],
  ["empty files", "for i in {1..50}; do touch t$i; done"],
  ["tar", "printf '%04000d' 0 > a; tar cf b.tar a; tar cf c.tar a b.tar"],
] as const;
for (const [how, command] of commands) {
  test(`the sandbox keeps to it, by ${how}, and says so`, async (t) => {
    const { workspace, call } = await opened(t);
    assert.match(await call("bash", { command }), FULL);
    const { bytes, entries } = await usedBy(workspace);
    assert.ok(bytes <= SMALL.bytes && entries <= SMALL.entries, `${bytes} bytes, ${entries} entries`);
  });
}

test("what a command removes is room again, within it and for the next", async (t) => {
  const { call } = await opened(t);
  const loop = "for i in {1..30}; do printf '%04000d' 0 > f; rm f; done; echo done";
  assert.match(await call("bash", { command: loop }), /^done$/);
  assert.match(await call("bash", { command: "printf '%09000d' 0 > f && echo fits" }), /^fits$/);
  assert.match(await call("bash", { command: "rm f; printf '%09000d' 0 > g && echo fits" }), /^fits$/);
});

test("a fork of files beyond the quota is refused before a file is copied, and leaves no thread", async (t) => {
  const base = await folder(t);
  const from = threadWorkspace(base, { user: "default", id: "t" });
  await prepareWorkspace(from);
  await writeFile(join(from.roots.workspace.directory, "big"), "x".repeat(20_000));
  const to = { ...threadWorkspace(base, { user: "default", id: "copy" }), quota: SMALL };
  await assert.rejects(copyWorkspace(from, to), FULL);
  assert.ok(!existsSync(to.roots.workspace.directory));
  const { agent, store } = deepAgentKit(["hi"], { files: { base, quota: SMALL } });
  t.after(() => store.close());
  await agent.generate({ threadId: "t", prompt: "hello" });
  await assert.rejects(agent.thread("t").fork({ as: "fork" }), FULL);
  assert.equal(await store.header("fork"), undefined);
});

test("without a quota everything fits", async (t) => {
  const { call } = await opened(t, null);
  assert.match(await call("write_file", { path: "a.txt", content: "x".repeat(90_000) }), /^Wrote/);
  assert.match(await call("bash", { command: "for i in {1..30}; do touch f$i; done; ls | wc -l" }), /31/);
});

test("a range of more than 10,000 is what it says, wherever it stands", async (t) => {
  const { call } = await opened(t);
  const counting = "echo RANGE | wc -w; echo RANGE | awk '{print $NF}'";
  const ranges = [
    ["{1..20000}", "20000\n20000"],
    ["{20000..1}", "20000\n1"],
    ["{0..60000..3}", "20001\n60000"],
    ["{00001..10001}", "10001\n10001"],
    ["{-5..10005}", "10011\n10005"],
    ["{1..10000}", "10000\n10000"],
    ["x{1..12345}y", "12345\nx12345y"],
  ] as const;
  for (const [range, expected] of ranges) {
    assert.equal(await call("bash", { command: counting.replaceAll("RANGE", range) }), expected);
  }
  const script = counting.replaceAll("RANGE", "{1..20000}");
  const loop = "n=0; for i in {1..20000}; do n=$((n+1)); done; echo $n";
  assert.equal(await call("bash", { command: loop }), "20000");
  assert.equal(await call("bash", { command: `bash -c "${script.replaceAll("$", "\\$")}"` }), "20000\n20000");
  assert.equal(await call("bash", { command: `f() { ${script}; }; (f)` }), "20000\n20000");
  assert.equal(await call("bash", { command: "echo '{1..20000}'" }), "{1..20000}");
  assert.match(await call("bash", { command: "eval 'echo {1..20000}'" }), /\{1\.\.20000\} inside eval is too long/);
  assert.match(await call("bash", { command: "echo {1..2000000}" }), /\{1\.\.2000000\} is too long/);
});

async function opened(t: TestContext, quota: Quota | null = SMALL) {
  const workspace: Workspace = { ...threadWorkspace(await folder(t), { user: "default", id: "t" }), quota };
  await prepareWorkspace(workspace);
  const tools = workspaceTools(workspace, { remember: async () => {} });
  return {
    workspace,
    at: (name: string) => join(workspace.roots.workspace.directory, name),
    async call(name: keyof typeof tools, input: object): Promise<string> {
      const { execute } = tools[name];
      const options = { toolCallId: "1", messages: [], context: {} };
      return String(await Promise.resolve(execute?.(input as never, options as never)).catch((error) => error.message));
    },
  };
}

async function folder(t: TestContext): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), "palimpsest-quota-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  return base;
}
