import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { BetaLocalFilesystemMemoryTool, betaMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent } from "../../home/create-deep-agent.ts";
import { openStore } from "../../stores/open.ts";
import type { MemoryCommand } from "./commands.ts";
import { createMemoryTool, type MemoryTool } from "./create-memory-tool.ts";

describe("the memory tool", () => {
  let base: string;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), "memory-tool-"));
  });
  after(() => rm(base, { recursive: true, force: true }));

  it("says word for word what Anthropic's own backend says, to every command and its refusals", async () => {
    const theirs = await BetaLocalFilesystemMemoryTool.init(join(base, "theirs"));
    const ours = createMemoryTool({ files: join(base, "ours", "memories") });
    const helpers = [betaMemoryTool(theirs), betaMemoryTool(ours)] as const;
    const commands: readonly MemoryCommand[] = [
      { command: "create", path: "/memories/notes.md", file_text: "one\ntwo\nthree\nfour\nfive\nsix\n" },
      { command: "create", path: "/memories/notes.md", file_text: "again" },
      { command: "create", path: "/memories/a/b/deep.txt", file_text: "x".repeat(1536) },
      { command: "create", path: "/memories/.hidden", file_text: "" },
      { command: "view", path: "/memories/notes.md" },
      { command: "view", path: "/memories/notes.md", view_range: [2, 3] },
      { command: "view", path: "/memories/notes.md", view_range: [5, -1] },
      { command: "view", path: "/memories/a/b" },
      { command: "view", path: "/memories/none.txt" },
      { command: "str_replace", path: "/memories/notes.md", old_str: "three", new_str: "$& and $1" },
      { command: "str_replace", path: "/memories/notes.md", old_str: "absent", new_str: "" },
      { command: "str_replace", path: "/memories/notes.md", old_str: "o", new_str: "0" },
      { command: "str_replace", path: "/memories/none.txt", old_str: "a", new_str: "b" },
      { command: "str_replace", path: "/memories/a", old_str: "a", new_str: "b" },
      { command: "insert", path: "/memories/notes.md", insert_line: 0, insert_text: "zero\n" },
      { command: "insert", path: "/memories/notes.md", insert_line: 99, insert_text: "far" },
      { command: "insert", path: "/memories/none.txt", insert_line: 0, insert_text: "a" },
      { command: "view", path: "/memories/notes.md" },
      { command: "rename", old_path: "/memories/notes.md", new_path: "/memories/moved/notes.md" },
      { command: "rename", old_path: "/memories/notes.md", new_path: "/memories/other.md" },
      { command: "rename", old_path: "/memories/a", new_path: "/memories/moved" },
      { command: "rename", old_path: "/memories", new_path: "/memories/self" },
      { command: "delete", path: "/memories/a" },
      { command: "delete", path: "/memories/a" },
      { command: "delete", path: "/memories" },
      { command: "view", path: "/memories" },
      { command: "view", path: "/etc/passwd" },
      { command: "view", path: "/memories/../../secret" },
    ];
    for (const command of commands) {
      const [expected, actual] = await Promise.all(helpers.map((tool) => said(() => tool.run(command as never))));
      assert.equal(actual, expected, JSON.stringify(command));
    }
  });

  it("finds passages of several lines, and two occurrences on one line, where theirs does not", async () => {
    const tool = createMemoryTool({ files: join(base, "lines") });
    await tool.create({ path: "/memories/a", file_text: "one\ntwo two\nthree" });
    await tool.str_replace({ path: "/memories/a", old_str: "one\ntwo", new_str: "1\n2" });
    assert.match(await tool.view({ path: "/memories/a" }), /1\t1\n +2\t2 two\n/);
    await tool.str_replace({ path: "/memories/a", old_str: "2 two", new_str: "two two" });
    const refusal = said(() => tool.str_replace({ path: "/memories/a", old_str: "two", new_str: "2" }));
    assert.match(await refusal, /Multiple occurrences of old_str `two` in lines: 2\./);
  });

  it("lets nothing out of its folder, whatever the path", async () => {
    const folder = join(base, "hostile", "memories");
    const tool = createMemoryTool({ files: folder });
    await tool.create({ path: "/memories/kept", file_text: "kept" });
    await writeFile(join(base, "hostile", "secret"), SECRET);
    await symlink(join(base, "hostile", "secret"), join(folder, "link"));
    await symlink(join(base, "hostile"), join(folder, "folder-link"));
    await mkdir(join(folder, "deep"));
    await symlink("/", join(folder, "deep", "root"));
    for (const path of HOSTILE) {
      for (const attempt of attempts(tool, path)) {
        const words = await said(attempt);
        assert.match(words, /^Error: /, `${JSON.stringify(path)} was taken: ${words}`);
        assert.ok(!words.includes(SECRET) && !words.replaceAll(path, "").includes(base), words);
      }
    }
    assert.doesNotMatch(await tool.view({ path: "/memories" }), /link|root/);
    assert.equal(await readFile(join(base, "hostile", "secret"), "utf8"), SECRET);
    assert.equal(await tool.view({ path: "/memories/./deep/../kept" }).then((text) => text.includes("kept")), true);
  });

  it("refuses what a model left out or spelled otherwise, in words it can act on", async () => {
    const tool = createMemoryTool({ files: join(base, "input") });
    const given: readonly (readonly [object, RegExp])[] = [
      [{ command: "view" }, /Missing required parameter: path/],
      [{ command: "create", path: "/memories/a" }, /Missing required parameter: file_text/],
      [{ command: "create", path: "/memories", file_text: "a" }, /is not a file/],
      [{ command: "rename", old_path: "/memories/a" }, /Missing required parameter: new_path/],
      [{ command: "format", path: "/memories" }, /Unknown command: format/],
      [{ command: "view", path: ["/memories"] }, /Missing required parameter: path/],
    ];
    for (const [command, refusal] of given) assert.match(await said(() => tool.run(command as never)), refusal);
    await tool.create({ path: "/memories/a", file_text: "a" });
    const range = { path: "/memories/a", view_range: [1] };
    assert.match(await said(() => tool.view(range)), /Invalid `view_range`/);
    const insert = { path: "/memories/a", insert_line: 0.5, insert_text: "b" };
    assert.match(await said(() => tool.insert(insert)), /Invalid `insert_line` parameter: 0.5/);
    await tool.create({ path: "/memories/folder/x", file_text: "" });
    const inside = { old_path: "/memories/folder", new_path: "/memories/folder/y" };
    assert.match(await said(() => tool.rename(inside)), /is inside of/);
  });

  it("bounds a file, all files together and their number", async () => {
    const tool = createMemoryTool({ files: join(base, "bounds"), fileBytes: 100, bytes: 150, entries: 3 });
    const create = (name: string, bytes: number) =>
      said(() => tool.create({ path: `/memories/${name}`, file_text: "x".repeat(bytes) }));
    assert.match(await create("large", 101), /more than 100 bytes/);
    assert.match(await create("a", 90), /^File created/);
    assert.match(await create("b", 90), /delete some first/);
    assert.match(await create("b", 1), /^File created/);
    assert.match(await create("c", 1), /^File created/);
    assert.match(await create("d", 1), /delete some first/);
    const grow = { path: "/memories/a", insert_line: 0, insert_text: "y".repeat(20) };
    assert.match(await said(() => tool.insert(grow)), /more than 100 bytes/);
    assert.match(await tool.view({ path: "/memories/a" }), /x{90}/);
  });

  it("loses none of many edits at once, made through two tools of one folder", async () => {
    const files = join(base, "at-once");
    const tools = [createMemoryTool({ files }), createMemoryTool({ files })] as const;
    await tools[0].create({ path: "/memories/list", file_text: "" });
    const created = Array.from({ length: 5 }, (_, index) =>
      said(() => tools[index % 2]!.create({ path: "/memories/one", file_text: String(index) })),
    );
    const edits = Array.from({ length: 40 }, (_, index) =>
      tools[index % 2]!.insert({ path: "/memories/list", insert_line: 0, insert_text: `line ${index}` }),
    );
    await Promise.all(edits);
    const list = await tools[0].view({ path: "/memories/list" });
    assert.deepEqual(
      Array.from({ length: 40 }, (_, index) => list.includes(`\tline ${index}\n`)).filter((there) => !there),
      [],
    );
    assert.equal((await Promise.all(created)).filter((words) => words.startsWith("File created")).length, 1);
  });

  it("is there for the agent, and each user has files of their own", async (t) => {
    const create = { command: "create", path: "/memories/plan.md", file_text: "ship it" };
    const model = scriptedModel([
      { text: "", calls: [{ name: "memory", input: JSON.stringify(create) }] },
      "Noted.",
      { text: "", calls: [{ name: "memory", input: JSON.stringify({ command: "view", path: "/memories" }) }] },
      "Nothing.",
      { text: "", calls: [{ name: "memory", input: JSON.stringify({ command: "view", path: "/memories/plan.md" }) }] },
      "Ship it.",
    ]);
    const store = await openStore(":memory:");
    const home = join(base, "home");
    const agent = createDeepAgent({ model, store, window: 50_000, files: { base: home, memories: true } });
    t.after(async () => {
      await agent.close();
      await store.close();
    });
    await agent.generate({ threadId: "one", prompt: "Note the plan." });
    await agent.generate({ threadId: "one", userId: "ada", prompt: "What is planned?" });
    await agent.generate({ threadId: "two", prompt: "What is planned?" });
    assert.equal(await readFile(join(home, "memories", "plan.md"), "utf8"), "ship it");
    const requests = model.calls.map(({ prompt }) => JSON.stringify(prompt));
    assert.ok(requests[0]!.includes("files of your own under /memories"));
    assert.ok(!requests[3]!.includes("plan.md") && requests[3]!.includes("0B"));
    assert.ok(requests[5]!.includes("ship it"));
  });
});

const SECRET = "what nobody may read";

const HOSTILE = [
  "/memories/../secret",
  "/memories/../../etc/passwd",
  "/memories/a/../../secret",
  "/memoriesX/a",
  "/memories/..%2fsecret",
  "/memories/%2e%2e/secret",
  "/memories/%2E%2E%2Fsecret",
  "/memories/%252e%252e/secret",
  "/memories/..\\secret",
  "/memories\\..\\secret",
  "/memories/．．/secret",
  "/memories/‥/secret",
  "/memories/a／b",
  "/memories/a\0b",
  "/memories/a\nb",
  "memories/a",
  "/Memories/a",
  "~/memories/a",
  "/etc/passwd",
  "/",
  "",
  ".",
  "/memories/link",
  "/memories/folder-link/secret",
  "/memories/folder-link/new",
  "/memories/deep/root/etc/passwd",
  `/memories/${"a".repeat(201)}`,
  `/memories/${"a/".repeat(20)}b`,
  `/memories/${"a".repeat(1100)}`,
] as const;

function attempts(tool: MemoryTool, path: string): readonly (() => Promise<string>)[] {
  return [
    () => tool.view({ path }),
    () => tool.create({ path, file_text: "pwned" }),
    () => tool.str_replace({ path, old_str: "n", new_str: "pwned" }),
    () => tool.insert({ path, insert_line: 0, insert_text: "pwned" }),
    () => tool.delete({ path }),
    () => tool.rename({ old_path: path, new_path: "/memories/stolen" }),
    () => tool.rename({ old_path: "/memories/kept", new_path: path }),
  ];
}

/** As the SDK's runner would show it. */
async function said(work: () => unknown): Promise<string> {
  try {
    return String(await work());
  } catch (error) {
    return `Error: ${(error as Error).message}`;
  }
}
