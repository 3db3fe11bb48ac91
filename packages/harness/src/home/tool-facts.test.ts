import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { describeTool, factsOfTool } from "@palimpsest/core/internal/message";
import { asSchema, type ToolSet, tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit } from "../../test/agent/agent-kit.ts";
import type { Middleware } from "../agent/run.ts";
import { recall } from "../middleware/basics.ts";

test("every tool of the whole assistant says what it is", async (t) => {
  const tools = await toolsOfAll(t);
  const silent = Object.keys(tools).filter((name) => factsOfTool(tools[name])?.act === undefined);
  assert.deepEqual(silent, [], "give these tools `metadata: describeTool({ act: ... })` where they are defined");
});

test("no tool refuses a call for a key that it doesn't know: models add some, such as a description", async (t) => {
  const tools = await toolsOfAll(t);
  const input = { command: "ls", todos: [{ content: "x", status: "pending", why: "extra" }], description: "extra" };
  for (const [name, { inputSchema }] of Object.entries(tools)) {
    const read = await asSchema(inputSchema).validate!({ ...input, unheard_of: "extra" });
    const refusal = read.success ? "" : String(read.error);
    assert.doesNotMatch(refusal, /unrecognized/i, name);
  }
});

async function toolsOfAll(t: TestContext): Promise<ToolSet> {
  const base = await mkdtemp(join(tmpdir(), "tool-facts-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  await mkdir(join(base, "skills", "reports"), { recursive: true });
  await writeFile(
    join(base, "skills", "reports", "SKILL.md"),
    "---\nname: reports\ndescription: how\n---\nTotal first.\n",
  );
  let tools: ToolSet = {};
  const watch: Middleware = {
    name: "watch",
    wrapModel: (request, next) => {
      tools = request.tools;
      return next(request);
    },
  };
  const kit = deepAgentKit(["done"], {
    files: { base, vision: true, skills: { directory: join(base, "skills") } },
    subagents: {},
    middleware: [watch],
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const names = Object.keys(tools);
  assert.ok(names.includes("load_skill") && names.includes("task") && names.includes("view_image"), names.join(" "));
  return tools;
}

const WORDS = "the quarterly figures of the harbour office ".repeat(40);

test("a tool of the user's own says that it bounds its results, and they are left alone", async (t) => {
  const base = await mkdtemp(join(tmpdir(), "tool-facts-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  const plain = tool({ inputSchema: z.object({}), execute: () => WORDS });
  const tools = { plain, bounded: { ...plain, metadata: describeTool({ output: "bounded" }) } };
  const kit = deepAgentKit([{ calls: ["plain", "bounded"].map((name) => ({ name, input: {} })) }, "done"], {
    tools,
    files: { base, toolOutput: { maxTokens: 100 } },
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const results = JSON.stringify(kit.model.calls[1]!.prompt.findLast(({ role }) => role === "tool"));
  assert.equal(results.split(WORDS).length - 1, 1, "the bounded one is whole, the other a preview");
  assert.match(results, /tool-outputs/);
});

test("a tool of the user's own says that it answers from history, and search doesn't find its echo", async () => {
  const lookBack = { inputSchema: z.object({}), execute: () => "the code word is quicksilver" };
  for (const [metadata, told] of [
    [describeTool({ answers: "history" }), /^Nothing found/],
    [{}, /quicksilver/],
  ] as const) {
    const calls = [{ name: "look_back", input: {} }];
    const search = [{ name: "recall", input: { query: "quicksilver" } }];
    const kit = agentKit([{ calls }, { calls: search }, "done"], {
      tools: { look_back: tool({ ...lookBack, metadata }) },
      middleware: [recall()],
    });
    await kit.agent.generate({ threadId: "t", prompt: "what was it?" });
    assert.match(String(kit.of("tool-end").at(-1)?.output), told);
  }
});

test("a tool that keeps a time limit of its own is not held to the agent's", async () => {
  const given = Promise.withResolvers<string>();
  const inputSchema = z.object({});
  const kit = agentKit([{ calls: ["patient", "plain"].map((name) => ({ name, input: {} })) }, "done"], {
    toolTimeoutMs: 1,
    tools: {
      patient: tool({
        inputSchema,
        metadata: describeTool({ timeLimit: "own" }),
        execute: () => given.promise,
      }),
      plain: tool({
        inputSchema,
        execute: (_, { abortSignal }) =>
          new Promise(() => abortSignal?.addEventListener("abort", () => given.resolve("at last"))),
      }),
    },
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const ends = kit.of("tool-end").map(({ name, isError }) => [name, isError]);
  assert.deepEqual(Object.fromEntries(ends), { patient: false, plain: true });
});
