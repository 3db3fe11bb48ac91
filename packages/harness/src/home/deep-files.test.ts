import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { deepAgentKit } from "../../test/agent/agent-kit.ts";
import { threadWorkspace } from "../features/workspace/workspace.ts";
import { createDeepAgent } from "./create-deep-agent.ts";

const LOG = Array.from({ length: 16_500 }, (_, index) =>
  index === 9_876
    ? "2026-11-15T03:00:00Z ERROR shard-12: checksum mismatch in block 4411"
    : `2026-11-15T03:00:00Z INFO worker ${index % 9}: handled request number ${index} in ${index % 90} ms`,
).join("\n");

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The text of the last results in a request to the model. */
const lastResults = (call: { prompt: readonly { role: string; content: unknown }[] }): string =>
  JSON.stringify(call.prompt.findLast(({ role }) => role === "tool"));

describe("an agent with files", () => {
  let base: string;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), "agent-files-"));
    await mkdir(join(base, "skills", "reports"), { recursive: true });
    await mkdir(join(base, "skills", "broken"), { recursive: true });
    const skill = "---\nname: reports\ndescription: how to write reports\n---\nAlways begin with the total.\n";
    await writeFile(join(base, "skills", "reports", "SKILL.md"), skill);
    await writeFile(join(base, "skills", "broken", "SKILL.md"), "---\nname: [\n---\n");
  });
  after(async () => rm(base, { recursive: true, force: true }));

  it("makes the schemas of its tools once, not with every run", async () => {
    const { agent, model } = deepAgentKit(["one", "two"], {
      files: { base, skills: { directory: join(base, "skills") } },
    });
    await agent.generate({ threadId: "t", prompt: "first" });
    await agent.generate({ threadId: "t", prompt: "second" });
    const [first, second] = model.calls.map(({ options }) => options.tools!);
    for (const [index, { name, ...tool }] of first!.entries())
      assert.equal("inputSchema" in tool && tool.inputSchema, Object(second![index]).inputSchema, name);
    assert.ok(first!.length >= 14);
    await agent.close();
  });

  it("gives a fork its own copy of the files as they are now", async () => {
    const write = (content: string) => ({
      calls: [{ name: "write_file", input: { path: "/mnt/user-data/workspace/plan.txt", content } }],
    });
    const kit = deepAgentKit([write("two eggs"), "done", write("three eggs"), "done"], { files: { base } });
    await kit.agent.generate({ threadId: "parent", prompt: "plan" });
    assert.equal((await kit.agent.thread("parent").fork({ as: "child" })).kind, "forked");
    await kit.agent.generate({ threadId: "parent", prompt: "again" });
    const plan = (threadId: string) =>
      readFile(
        join(threadWorkspace(base, { user: "default", id: threadId }).roots.workspace.directory, "plan.txt"),
        "utf8",
      );
    assert.equal(await plan("child"), "two eggs");
    assert.equal(await plan("parent"), "three eggs");
  });

  it("goes on when a tool returns 1.2 MB at a window of 16k, and follows the pointer [F46] [F47] [F50]", async () => {
    assert.ok(LOG.length > 1_200_000);
    let path = "";
    const kit = deepAgentKit(
      ({ index, prompt }) => {
        path ||= fileNamedIn(prompt);
        const calls = [
          { name: "fetch_log", input: {} },
          { name: "grep", input: { pattern: "ERROR", path } },
          { name: "read_file", input: { path, offset: 9877, limit: 1 } },
        ];
        return index < calls.length ? { calls: [calls[index]!] } : "the checksum of block 4411 does not match";
      },
      {
        files: { base },
        window: 16_000,
        tools: { fetch_log: tool({ inputSchema: z.object({}), execute: async () => LOG }) },
      },
    );
    const result = await kit.agent.generate({ threadId: "big", prompt: "what failed?" });
    assert.equal(result.text, "the checksum of block 4411 does not match");
    const [, second, third, fourth] = kit.model.calls;
    assert.match(
      lastResults(second!),
      /line 9877: .*checksum mismatch in block 4411/,
      "the failing line is in the preview",
    );
    assert.ok(lastResults(second!).length < 8000);
    assert.match(lastResults(third!), /:9877:.*checksum mismatch/);
    assert.match(lastResults(fourth!), /checksum mismatch in block 4411.*go on with offset: 9878/);
    assert.match(path, /^\/mnt\/user-data\/tool-outputs\/[0-9a-f]{32}\.log$/);
    const said = await kit.said("big");
    assert.ok(JSON.stringify(said[2]).includes(JSON.stringify(LOG).slice(1, -1)), "replay has all of it");
    const stored = join(base, "threads", "big", "tool-outputs", path.split("/").at(-1)!);
    assert.equal(await readFile(stored, "utf8"), LOG);
  });

  it("makes a stored output again from the log when its file is gone and a call names it", async () => {
    let path = "";
    const kit = deepAgentKit(
      ({ index, prompt }) => {
        path ||= fileNamedIn(prompt);
        const calls = [
          { name: "fetch_log", input: {} },
          null,
          { name: "read_file", input: { path, offset: 9877, limit: 1 } },
          { name: "bash", input: { command: `wc -l < ${path}` } },
        ];
        return calls[index] == null ? "done" : { calls: [calls[index]] };
      },
      { files: { base }, tools: { fetch_log: tool({ inputSchema: z.object({}), execute: async () => LOG }) } },
    );
    await kit.agent.generate({ threadId: "gone", prompt: "what failed?" });
    const stored = join(base, "threads", "gone", "tool-outputs", path.split("/").at(-1)!);
    await rm(stored);
    await kit.agent.generate({ threadId: "gone", prompt: "show me the line" });
    assert.match(lastResults(kit.model.calls[3]!), /checksum mismatch in block 4411/);
    assert.equal(await readFile(stored, "utf8"), LOG);
  });

  it("keeps exempt tools and per-tool limits", async () => {
    const long = (name: string) => tool({ inputSchema: z.object({}), execute: async () => `${name} `.repeat(3000) });
    const kit = deepAgentKit([{ calls: ["free", "tight", "plain"].map((name) => ({ name, input: {} })) }, "done"], {
      files: { base, toolOutput: { maxTokens: 8000, perTool: { tight: 100 }, exempt: ["free"] } },
      tools: { free: long("free"), tight: long("tight"), plain: long("plain") },
    });
    await kit.agent.generate({ threadId: "limits", prompt: "go" });
    assert.equal((lastResults(kit.model.calls[1]!).match(/too long to show whole/g) ?? []).length, 1);
    assert.match(lastResults(kit.model.calls[1]!), /The result of tight is too long/);
    assert.equal((await readdir(join(base, "threads", "limits", "tool-outputs"))).length, 1);
  });

  it("still shows the preview when the file can't be written, and points into the log", async () => {
    await mkdir(join(base, "threads", "full"), { recursive: true });
    await writeFile(join(base, "threads", "full", "blocked"), "");
    const kit = deepAgentKit([{ calls: [{ name: "fetch_log", input: {} }] }, "done"], {
      files: {
        base,
        workspace: ({ threadId }) => {
          const { roots } = threadWorkspace(base, { user: "default", id: threadId });
          const directory = join(base, "threads", "full", "blocked", "x");
          return { roots: { ...roots, "tool-outputs": { ...roots["tool-outputs"], directory } } };
        },
      },
      tools: { fetch_log: tool({ inputSchema: z.object({}), execute: async () => LOG }) },
    });
    const result = await kit.agent.stream({ threadId: "full", prompt: "go" }).result;
    assert.equal(result.end.kind, "answered", JSON.stringify(result.end));
    assert.match(lastResults(kit.model.calls[1]!), /could not be written.*recall_read.*checksum mismatch/);
  });

  it("keeps todos, artifacts and skills through a compaction, an undo and a fork [F21]", async () => {
    const outputs = "/mnt/user-data/outputs";
    const kit = deepAgentKit(
      [
        {
          calls: [
            { name: "write_todos", input: { todos: [{ content: "sum up", status: "in_progress" }] } },
            { name: "write_file", input: { path: `${outputs}/a.md`, content: "A" } },
            { name: "load_skill", input: { name: "reports" } },
          ],
        },
        { calls: [{ name: "present_files", input: { paths: [`${outputs}/a.md`, `${outputs}/./a.md`] } }] },
        { calls: [{ name: "present_files", input: { paths: [`${outputs}/a.md`] } }] },
        `a first answer ${"with many words ".repeat(200)}`,
        "a second answer",
        "a third answer",
      ],
      { files: { base, skills: { directory: join(base, "skills") } }, summarizer: null },
    );
    await kit.agent.generate({ threadId: "t", prompt: "do it" });
    assert.deepEqual(
      kit.of("skill-skip").map(({ folder }) => folder),
      ["broken"],
    );
    const system = (index: number): string => JSON.stringify(kit.model.calls[index]!.prompt[0]);
    assert.match(system(0), /<skills>.*- reports: how to write reports/);
    assert.doesNotMatch(system(1), /Always begin with the total/);
    await kit.agent.generate({ threadId: "t", prompt: "again" });

    const state = async (threadId: string) => (await kit.store.head(threadId))!.state;
    const expected = async (threadId: string): Promise<void> => {
      const { todos, artifacts, skills } = await state(threadId);
      assert.deepEqual(todos, [{ content: "sum up", status: "in_progress" }]);
      assert.deepEqual(artifacts, [`${outputs}/a.md`]);
      assert.deepEqual(
        (skills as { name: string }[]).map(({ name }) => name),
        ["reports"],
      );
    };
    await expected("t");
    const outcome = await kit.agent.compact("t", { keep: { type: "messages", value: 1 } });
    assert.equal(outcome.kind, "compacted", JSON.stringify(outcome));
    await expected("t");
    await kit.agent.generate({ threadId: "t", prompt: "and now?" });
    const last = kit.model.calls.at(-1)!;
    assert.match(JSON.stringify(last.prompt[0]), /Loaded earlier: reports.*Always begin with the total/);
    assert.match(JSON.stringify(last.prompt), /\[in_progress\] sum up/);
    assert.equal((await kit.agent.thread("t").fork({ as: "t2" })).kind, "forked");
    await expected("t2");
    assert.equal((await kit.agent.thread("t").undo()).kind, "undone");
    await expected("t");
  });

  it("shows an image to a model that sees, in a user turn behind the result, and offers the tool to no other", async () => {
    const folder = join(base, "threads", "see", "uploads");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "p.png"), Buffer.from(PNG, "base64"));
    const call = { name: "view_image", input: { path: "/mnt/user-data/uploads/p.png" } };
    const kit = deepAgentKit([{ calls: [call] }, "a dot"], { files: { base, vision: true } });
    await kit.agent.generate({ threadId: "see", prompt: "what is it?" });
    const roles = kit.model.calls[1]!.prompt.map(({ role }) => role);
    assert.deepEqual(roles, ["system", "user", "assistant", "tool", "user"]);
    assert.ok(JSON.stringify(kit.model.calls[1]!.prompt.at(-1)).includes(PNG));
    assert.ok(!lastResults(kit.model.calls[1]!).includes(PNG));
    assert.deepEqual((await kit.store.head("see"))!.state["viewedImages"], [
      { path: "/mnt/user-data/uploads/p.png", mediaType: "image/png", width: 1, height: 1 },
    ]);
    const blind = deepAgentKit([{ calls: [call] }, "no"], { files: { base } });
    await blind.agent.generate({ threadId: "blind", prompt: "what is it?" });
    assert.match(lastResults(blind.model.calls[1]!), /view_image/);
    assert.ok(!blind.model.calls[0]!.options.tools?.some(({ name }) => name === "view_image"));
  });

  it("warns about identical calls and then stops with the reason, but not after a compaction [F33]", async () => {
    const again = { calls: [{ name: "read_file", input: { path: "notes.txt" } }] };
    const folder = join(base, "threads", "loop", "workspace");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "notes.txt"), "the same");
    const kit = deepAgentKit(() => again, { files: { base } });
    const result = await kit.agent.stream({ threadId: "loop", prompt: "go" }).result;
    assert.equal(result.steps, 5);
    assert.equal(result.end.kind === "failed" && result.end.code, "loop");
    assert.match(result.end.kind === "failed" ? result.end.message : "", /read_file was called 5 times in a row/);
    assert.equal(kit.of("loop-warn").length, 2);

    const compacting = { calls: [{ name: "compact_conversation", input: {} }] };
    const steps = [again, again, compacting, again, again, compacting, again, again, "enough"] as const;
    await writeFile(join(folder, "notes.txt"), "much to read ".repeat(500));
    const legit = deepAgentKit(steps, { files: { base }, summarizer: null });
    const end = await legit.agent.stream({ threadId: "reread", prompt: "go" }).result;
    assert.equal(end.end.kind, "answered", JSON.stringify(end.end));
  });

  it("writes state from tools that run at the same time", async () => {
    const kit = deepAgentKit(
      [
        {
          calls: [
            { name: "write_todos", input: { todos: [{ content: "x" }] } },
            { name: "load_skill", input: { name: "reports" } },
            { name: "write_todos", input: { todos: [{ content: "y" }] } },
          ],
        },
        "done",
      ],
      { files: { base, skills: { directory: join(base, "skills") } } },
    );
    const { end } = await kit.agent.stream({ threadId: "parallel", prompt: "go" }).result;
    assert.equal(end.kind, "answered");
    assert.doesNotMatch(lastResults(kit.model.calls[1]!), /failed/);
    const { state } = (await kit.store.head("parallel"))!;
    assert.ok(state["todos"] && state["skills"]);
  });

  it("shares its files with those it delegates to, and not its history", async () => {
    const kit = deepAgentKit(
      ({ prompt }) => {
        const text = JSON.stringify(prompt);
        const child = !text.includes("delegate this");
        const done = prompt.some(({ role }) => role === "tool");
        if (child)
          return done
            ? "written"
            : { calls: [{ name: "write_file", input: { path: "from-child.txt", content: "42" } }] };
        if (!done)
          return {
            calls: [
              { name: "task", input: { description: "d", prompt: "write the file", subagent_type: "general-purpose" } },
            ],
          };
        return text.includes("read_file")
          ? "it says 42"
          : { calls: [{ name: "read_file", input: { path: "from-child.txt" } }] };
      },
      { files: { base } },
    );
    const { text } = await kit.agent.generate({ threadId: "parent", prompt: "delegate this" });
    assert.equal(text, "it says 42");
    assert.match(lastResults(kit.model.calls.at(-1)!), /42/);
    assert.equal(await readFile(join(base, "threads", "parent", "workspace", "from-child.txt"), "utf8"), "42");
  });

  it("warns when commands are to run on the host", async () => {
    const warned = new Promise<Error & { code?: string }>((resolve) => process.once("warning", resolve));
    createDeepAgent({ model: deepAgentKit([]).model, files: { base, bash: "host" } });
    assert.equal((await warned).code, "PALIMPSEST_HOST_BASH");
  });
});

/** The model knows the file only by what the preview says. */
function fileNamedIn(prompt: unknown): string {
  return /read_file\(\{\\*"path\\*": \\*"([^"\\]+)/.exec(JSON.stringify(prompt))?.[1] ?? "";
}
