import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import type { Middleware } from "../agent/middleware.ts";
import { agentKit, deepAgentKit, textOf } from "../testing/agent-kit.ts";
import { compactTool, recall, summarization, title } from "./index.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);

test("before hooks run in order, after hooks in reverse, and the first wraps the others", async () => {
  const order: string[] = [];
  const watch = (name: string): Middleware => ({
    name,
    beforeAgent: () => void order.push(`${name}>agent`),
    beforeModel: () => void order.push(`${name}>model`),
    wrapModel: async (request, next) => {
      order.push(`${name}(`);
      const outcome = await next(request);
      order.push(`)${name}`);
      return outcome;
    },
    wrapTool: async (call, next) => {
      order.push(`${name}[`);
      const outcome = await next(call);
      order.push(`]${name}`);
      return outcome;
    },
    afterModel: () => void order.push(`model<${name}`),
    afterAgent: () => void order.push(`agent<${name}`),
  });
  const noop = tool({ inputSchema: z.object({}), execute: () => "ok" });
  const kit = agentKit([{ calls: [{ name: "noop", input: {} }] }, "done"], {
    tools: { noop },
    middleware: [watch("a"), watch("b")],
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const expected =
    "a>agent b>agent a>model b>model a( b( )b )a a[ b[ ]b ]a model<b model<a a>model b>model a( b( )b )a model<b model<a agent<b agent<a";
  assert.equal(order.join(" "), expected);
});

test("a middleware can change a request, answer for a tool, and add to the system prompt", async () => {
  const noop = tool({ inputSchema: z.object({}), execute: () => "real" });
  const kit = agentKit([{ calls: [{ name: "noop", input: {} }] }, "done"], {
    tools: { noop },
    middleware: [
      {
        name: "edits",
        prompt: () => [
          { slot: "skills", text: "- juggling" },
          { slot: "memory", text: "The user likes tea." },
        ],
        wrapModel: (request, next) => next({ ...request, instructions: request.instructions.replace("tea", "coffee") }),
        wrapTool: async () => ({ output: { type: "text", value: "pretended" }, isError: false }),
      },
    ],
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const system = textOf(kit.model.calls[0]!.prompt[0] as never);
  assert.match(
    system,
    /<memory>\nThe user likes coffee\.\n<\/memory>\n\n<skills>\n- juggling\n<\/skills>\n\nCurrent date: /,
  );
  assert.equal(textOf((await kit.said())[2]!), "pretended");
});

test("a middleware that throws before the model ends the run with its error, and the prompt is kept", async () => {
  const broken: Middleware = {
    name: "broken",
    beforeModel: () => {
      throw new Error("no disk");
    },
  };
  const kit = agentKit([], { middleware: [broken] });
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "x" }).result;
  assert.deepEqual(end, { kind: "failed", code: "failed", message: "no disk" });
  assert.equal((await kit.said()).length, 1);
});

test("a thread is named after its first exchange, from the user's words, and keeps the name", async () => {
  const kit = agentKit(() => "ok", { middleware: [title({ maxCharacters: 40 })] });
  await kit.agent.generate({ threadId: "t", prompt: "Please look into the parser. It fails on Mondays." });
  await kit.agent.generate({ threadId: "t", prompt: "Something else" });
  assert.equal((await kit.agent.thread("t").state())["title"], "Please look into the parser");
  assert.equal(kit.of("title-set").length, 1);
  await kit.agent.generate({ threadId: "u", prompt: "word ".repeat(30) });
  assert.match(String((await kit.agent.thread("u").state())["title"]), /^(word )+word…$/);
});

test("a question to the person ends the run; the next message is its answer", async () => {
  const ask = { calls: [{ name: "ask_clarification", input: { question: "Which one?", options: ["a", "b"] } }] };
  const kit = deepAgentKit([ask, "b it is"]);
  const { end } = await kit.agent.generate({ threadId: "t", prompt: "Delete the file." });
  assert.deepEqual(end, { kind: "asked", question: "Which one?", options: ["a", "b"] });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "b" })).text, "b it is");
});

test("recall finds what a compaction has hidden, not its own echo, and recall_read reads it word for word", async () => {
  const fact = "The launch code word is quicksilver-77, and it must be said twice.";
  let asked = "";
  const kit = deepAgentKit(
    ({ prompt }) => {
      const last = textOf(prompt.findLast(({ role }) => role === "user") as never);
      if (!last.includes("launch code")) return WORDS;
      const results = prompt.filter(({ role }) => role === "tool").length;
      if (asked === last && results > 0) return "found";
      asked = last;
      return {
        calls: [
          { name: "recall", input: { query: "launch code word" } },
          { name: "recall_read", input: { from: 1, to: 4 } },
        ],
      };
    },
    { contextWindow: 6_000 },
  );
  await kit.agent.generate({ threadId: "t", prompt: fact.replace("launch code", "launching code") });
  for (let turn = 0; turn < 15; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  assert.ok(kit.of("compaction-end").some(({ outcome }) => outcome.kind === "compacted"));
  await kit.agent.generate({ threadId: "t", prompt: "What was the launch code word?" });
  const ends = kit.of("tool-end").filter(({ name }) => name.startsWith("recall"));
  assert.match(String(ends[0]?.output), /quicksilver-77/);
  assert.doesNotMatch(String(ends[0]?.output), /What was the launch code/);
  assert.match(String(ends[1]?.output), /user: The launching code word is quicksilver-77, and it must be said twice\./);
});

test("a message longer than one reading is read on where it stopped, to its last word", async () => {
  const long = Array.from({ length: 900 }, (_, n) => `line ${n}`).join("\n");
  const kit = agentKit(
    ({ prompt, index }) => {
      const last = prompt.at(-1)!;
      if (index === 0) return { calls: [{ name: "recall_read", input: { from: 3 } }] };
      const next = /recall_read from (\d+) offset (\d+)/.exec(textOf(last as never));
      if (next === null) return "read";
      return { calls: [{ name: "recall_read", input: { from: Number(next[1]), offset: Number(next[2]) } }] };
    },
    { middleware: [recall({ tokens: 500 })] },
  );
  await kit.agent.generate({ threadId: "t", prompt: long });
  const pieces = kit.of("tool-end").map(({ output }) => String(output));
  assert.ok(pieces.length > 2);
  const read = pieces.map((piece) => piece.replace(/^3 user: /, "").replace(/\n\(goes on:.*\)$/, "")).join("");
  assert.equal(read, long);
});

test("a plain agent compacts automatically once summarization is among its middleware", async () => {
  const kit = agentKit(() => WORDS, {
    contextWindow: 100_000,
    middleware: [
      summarization({
        summarizer: null,
        trigger: { type: "messages", value: 10 },
        keep: { type: "messages", value: 4 },
      }),
      compactTool(),
    ],
  });
  for (let turn = 0; turn < 8; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  const outcome = kit.of("compaction-end").find((event) => event.outcome.kind === "compacted")?.outcome;
  assert.ok(outcome?.kind === "compacted" && outcome.tokensAfter < outcome.tokensBefore);
});
