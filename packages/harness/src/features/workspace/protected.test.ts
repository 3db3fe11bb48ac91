import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { workspaceTools } from "./middleware.ts";
import { prepareWorkspace, threadWorkspace, type Workspace } from "./workspace.ts";

const REFUSED = /can't be changed: programs of the user run what is in/;

const commands = [
  ["a redirection", "printf x > .git/config"],
  ["an absolute path", "printf x > /mnt/user-data/workspace/.git/config"],
  ["a path with dots", "mkdir -p a; printf x > a/../.git/./config"],
  ["appending", "printf x >> .git/config"],
  ["tee", "echo x | tee .git/hooks/pre-commit"],
  ["sed -i", "sed -i s/a/b/ .git/config"],
  ["a copy onto a file", "echo x > y; cp y .git/config"],
  ["a copy of a folder", "mkdir -p /tmp/r/.git; echo x > /tmp/r/.git/config; cp -r /tmp/r new"],
  ["moving onto it", "echo x > y; mv y .git/config"],
  ["moving a folder in", "mkdir -p /tmp/r/.git; echo x > /tmp/r/.git/config; mv /tmp/r new"],
  ["moving it away", "mv .git old"],
  ["moving the folder that holds it", "mv sub other"],
  ["removing", "rm -rf .git"],
  ["removing the folder that holds it", "rm -rf sub"],
  ["a new folder", "mkdir -p new/.git/hooks"],
  ["the mode of a hook", "chmod +x .git/hooks/pre-commit"],
  ["a new file", "touch .envrc"],
  ["a link", "echo x > y; ln y .git/hooks/post-commit"],
  ["tar", "mkdir -p /tmp/r/.husky; echo x > /tmp/r/.husky/x; tar cf a.tar -C /tmp/r .husky; tar xf a.tar"],
  ["another case", "mkdir .GIT"],
  ["an invisible character", "mkdir $'.g\\u200bit'"],
  ["a dot behind it", "mkdir .git."],
  ["a repository below", "printf x > sub/.git/config"],
] as const;
for (const [how, command] of commands) {
  test(`the sandbox leaves protected files as they are: ${how}`, async (t) => {
    const { call, at } = await opened(t);
    const said = await call("bash", { command });
    assert.deepEqual(contents(at(".git")), BEFORE);
    assert.deepEqual(contents(at("sub/.git")), { config: "theirs" });
    for (const name of [".envrc", ".husky/x", ".GIT", ".git.", ".g\u200bit", "new/.git"])
      assert.ok(!existsSync(at(name)), name);
    assert.equal((await stat(at(".git/hooks/pre-commit"))).mode & 0o111, 0);
    assert.match(said, REFUSED);
  });
}

for (const command of ["cat pipe", "cat < pipe", "echo x > pipe", "echo x >> pipe", "cp pipe copy"])
  test(`the sandbox opens no pipe, on which it would wait for ever: ${command}`, async (t) => {
    const { call, at } = await opened(t);
    execFileSync("mkfifo", [at("pipe")]);
    const said = await call("bash", { command, timeout_seconds: 10 });
    // A thread that waits for the other end after all gets one, so that this process can end.
    closeSync(openSync(at("pipe"), constants.O_RDWR));
    assert.match(said, /not a regular file/);
    assert.doesNotMatch(said, /did not end/);
  });

test("the file tools refuse to change protected files, and say why", async (t) => {
  const { call, at } = await opened(t);
  assert.match(await call("write_file", { path: ".git/config", content: "x" }), REFUSED);
  assert.match(await call("write_file", { path: "a/.vscode/tasks.json", content: "x" }), REFUSED);
  assert.match(await call("str_replace", { path: ".git/config", old_str: "theirs", new_str: "mine" }), REFUSED);
  assert.match(await call("write_file", { path: "x/../.Git/config", content: "x" }), REFUSED);
  assert.deepEqual(contents(at(".git")), BEFORE);
});

test("protected files can be read and copied, and others be written as before", async (t) => {
  const { call, at } = await opened(t);
  assert.match(await call("read_file", { path: ".git/config" }), /theirs/);
  assert.equal(await call("bash", { command: "cat .git/config; cp -r .git copy; cat copy/config" }), "theirstheirs");
  assert.match(await call("write_file", { path: ".gitignore", content: "x" }), /^Wrote/);
  assert.equal(await call("bash", { command: "echo x > git; mv git y; rm -r copy y; echo done" }), "done");
  assert.ok(!existsSync(at("copy")));
});

test("a thread's own workspace has no protected files", async (t) => {
  const { call } = await opened(t, []);
  assert.equal(await call("bash", { command: "echo x > .git/config; rm -rf sub; echo done" }), "done");
});

const BEFORE = { config: "theirs", "hooks/pre-commit": "theirs" };

async function opened(t: TestContext, protect: readonly string[] = [".git", ".envrc", ".husky", ".vscode"]) {
  const base = await mkdtemp(join(tmpdir(), "palimpsest-protected-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  const { roots } = threadWorkspace(base, { user: "default", id: "t" });
  const workspace: Workspace = { roots: { ...roots, workspace: { ...roots.workspace, protect } } };
  await prepareWorkspace(workspace);
  const at = (name: string): string => join(roots.workspace.directory, name);
  await mkdir(at(".git/hooks"), { recursive: true });
  await mkdir(at("sub/.git"), { recursive: true });
  for (const name of [".git/config", ".git/hooks/pre-commit", "sub/.git/config"]) await writeFile(at(name), "theirs");
  await chmod(at(".git/hooks/pre-commit"), 0o644);
  const tools = workspaceTools(workspace, { remember: async () => {} });
  return {
    at,
    async call(name: keyof typeof tools, input: object): Promise<string> {
      const { execute } = tools[name];
      const options = { toolCallId: "1", messages: [], context: {} };
      return String(await Promise.resolve(execute?.(input as never, options as never)).catch((error) => error.message));
    },
  };
}

/** Its files by their names. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
}
