import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { APICallError } from "@ai-sdk/provider";
import { type AiSdkMessage, aiSdkShape, assertValid, rulesOf } from "@palimpsest/core/internal/message";
import { type Tool, tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit, type Kit, textOf } from "../../test/agent/agent-kit.ts";
import { verify } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";

const echo = tool({ inputSchema: z.object({ text: z.string() }), execute: ({ text }) => `echo ${text}` });
const returning = (value: unknown): Tool => tool({ inputSchema: z.object({}), execute: () => value });
const call = (name: string, input: unknown = {}) => ({ calls: [{ name, input }] });

test("an unknown tool gets an error result that names the tools there are, and the run goes on", async () => {
  const kit = agentKit([call("nope"), "sorry"], { tools: { echo } });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go" })).text, "sorry");
  assert.match(await resultIn(kit), /nope[\s\S]*echo/);
  assert.equal(kit.of("tool-end")[0]?.isError, true);
  await isWhole(kit);
});

test("invalid arguments, and arguments that aren't JSON, get an error result and no execution", async () => {
  let ran = 0;
  const strict = tool({
    inputSchema: z.object({ n: z.number() }),
    execute: () => {
      ran++;
      return "ran";
    },
  });
  const kit = agentKit([call("strict", { n: "one" }), call("strict", "{oops"), "done"], { tools: { strict } });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.equal(ran, 0);
  assert.deepEqual(
    kit.of("tool-end").map(({ isError }) => isError),
    [true, true],
  );
  await isWhole(kit);
});

test("a tool that throws gets its error as the result, and its parallel neighbours keep theirs, in call order", async () => {
  const slow = tool({
    inputSchema: z.object({}),
    execute: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return "slow but fine";
    },
  });
  const bad = tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error("kaboom");
    },
  });
  const calls = [
    { name: "slow", input: {} },
    { name: "bad", input: {} },
    { name: "echo", input: { text: "hi" } },
  ];
  const kit = agentKit([{ calls }, "done"], { tools: { slow, bad, echo } });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [, , results] = await kit.said();
  const parts = aiSdkShape.parts(results!).map((part) => (part.kind === "result" ? [part.name, part.text] : []));
  assert.deepEqual(parts, [
    ["slow", "slow but fine"],
    ["bad", "bad failed: kaboom"],
    ["echo", "echo hi"],
  ]);
  await isWhole(kit);
});

test("a tool that hangs is left alone after its time, its signal aborted, and the model is told", async () => {
  let signal: AbortSignal | undefined;
  const hang = tool({
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) => {
      signal = abortSignal;
      return new Promise<string>(() => {});
    },
  });
  const kit = agentKit([call("hang"), "moving on"], { tools: { hang }, toolTimeoutMs: 20 });
  const { text, end } = await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.deepEqual([text, end.kind, signal?.aborted], ["moving on", "answered", true]);
  const [ended] = kit.of("tool-end");
  assert.deepEqual([ended?.name, ended?.isError], ["hang", true]);
  assert.match(String(ended?.output), /^hang did not finish within .* and was left alone/);
  assert.match(await resultIn(kit), /did not finish/);
  await isWhole(kit);
});

test("an abort does not wait for a tool that ignores its signal, and its call still has a result", async () => {
  const stop = new AbortController();
  const hang = tool({
    inputSchema: z.object({}),
    execute: () => {
      stop.abort();
      return new Promise<string>(() => {});
    },
  });
  const kit = agentKit(
    [
      {
        calls: [
          { name: "hang", input: {} },
          { name: "echo", input: { text: "x" } },
        ],
      },
    ],
    { tools: { hang, echo } },
  );
  const result = await kit.agent.stream({ threadId: "t", prompt: "go", signal: stop.signal }).result;
  assert.deepEqual(result.end, { kind: "aborted" });
  assert.match(await resultIn(kit), /stopped before this tool had finished/);
  await isWhole(kit);
});

const oddities: readonly (readonly [string, unknown, RegExp])[] = [
  ["undefined", undefined, /^null$/],
  ["a big integer", 12n, /^"?12"?$/],
  ["a nested big integer", { n: 12n, list: [1n] }, /"n":"12"/],
  ["bytes", { data: new Uint8Array([137, 80, 78, 71]) }, /iVBORw==/],
  ["a URL and a date", { url: new URL("http://x.test/a"), at: new Date(0) }, /http:\/\/x\.test\/a.*1970/],
  ["a function", () => 1, /null/],
  ["an empty string", "", /^$/],
];
for (const [what, value, expected] of oddities) {
  test(`a tool that returns ${what} gets it written down as JSON`, async () => {
    const kit = agentKit([call("odd"), "done"], { tools: { odd: returning(value) } });
    await kit.agent.generate({ threadId: "t", prompt: "go" });
    assert.match(await resultIn(kit), expected);
    assert.equal(kit.of("tool-end")[0]?.isError, false);
    await isWhole(kit);
  });
}

test("a result that contains itself can't be written and becomes an error result", async () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const kit = agentKit([call("odd"), "done"], { tools: { odd: returning(cyclic) } });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.match(await resultIn(kit), /contains itself/);
});

test("[F46] a result of 10 MB stays in the log whole, and the next request still fits the window", async () => {
  const big = `${"line of output that goes on\n".repeat(380_000)}`;
  const kit = deepAgentKit([call("big"), "done"], { tools: { big: returning(big) }, window: 16_000 });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go" })).text, "done");
  assert.equal(await resultIn(kit), big);
  assert.ok(kit.model.calls[1]!.inputTokens <= 14_000, `${kit.model.calls[1]!.inputTokens}`);
  await isWhole(kit);
});

test("an empty answer is an event, the thread stays valid and the next turn works", async () => {
  const kit = agentKit([{ text: "" }, "hello"], {});
  const first = await kit.agent.stream({ threadId: "t", prompt: "one" }).result;
  assert.equal(first.end.kind, "answered");
  assert.equal(kit.of("answer-empty").length, 1);
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "two" })).text, "hello");
  await isWhole(kit);
});

test("an empty prompt is refused before anything is written or sent", async () => {
  const kit = agentKit([]);
  for (const input of [{ prompt: "" }, { prompt: " \n" }, { messages: [] }]) {
    await assert.rejects(kit.agent.generate({ threadId: "t", ...input }), { code: "empty-prompt" });
  }
  assert.equal(await kit.store.header("t"), undefined);
  await assert.rejects(kit.agent.generate({ threadId: "t" }), { code: "nothing-to-answer" });
  await assert.rejects(kit.agent.generate({ threadId: "../x", prompt: "hi" }), { code: "bad-thread-id" });
  await assert.rejects(kit.agent.generate({ threadId: "t", messages: [{ role: "robot" } as never] }), {
    code: "bad-message",
  });
});

test("[F16] a prompt larger than the window is clamped in the view and kept whole in the log", async () => {
  const kit = deepAgentKit(["read it"], { window: 4_000 });
  const prompt = `BEGIN ${"word ".repeat(20_000)} END`;
  assert.equal((await kit.agent.generate({ threadId: "t", prompt })).text, "read it");
  assert.ok(kit.model.calls[0]!.inputTokens <= 3_500);
  assert.equal((await kit.said())[0]!.content, prompt);
});

test("[F32] a window below the floor is a typed error before the model is asked", async () => {
  const kit = deepAgentKit([], { window: 500 });
  await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "hi" }), { code: "floor-exceeds-window" });
  assert.equal(kit.model.calls.length, 0);
});

test("a second run on the same thread is busy, and neither disturbs the other", async () => {
  const kit = agentKit([{ text: "first", delayMs: 1 }, "later"], { scripted: { sleep: () => release.promise } });
  const release = Promise.withResolvers<void>();
  const first = kit.agent.stream({ threadId: "t", prompt: "one" });
  for await (const event of first) if (event.type === "step-start") break;
  const second = await kit.agent.stream({ threadId: "t", prompt: "two" }).result;
  assert.equal(second.end.kind, "busy");
  await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "two" }), { code: "busy" });
  // [F44] a manual compaction during a run
  const outcome = await kit.agent.compact("t");
  assert.equal(outcome.kind === "unchanged" && outcome.reason, "busy");
  release.resolve();
  assert.equal((await first.result).text, "first");
  assert.equal((await kit.said()).length, 2);
});

test("a stream that is cut in the middle fails, keeps what was shown, and the next turn works", async () => {
  const cut = new Error("socket hang up");
  for (const ends of [{ by: "break", error: cut }, { by: "error", error: cut }, { by: "silence" }] as const) {
    const kit = agentKit([{ text: "half an ans", calls: [{ name: "echo", input: { text: "x" } }], ends }, "whole"], {
      tools: { echo },
    });
    const result = await kit.agent.stream({ threadId: "t", prompt: "one" }).result;
    assert.equal(result.end.kind, "failed", ends.by);
    assert.equal(result.text, "half an ans");
    assert.deepEqual(await kit.origins(), ["user", "aborted"]);
    assert.equal((await kit.agent.generate({ threadId: "t", prompt: "again" })).text, "whole");
    await isWhole(kit);
  }
});

test("wrong key, no network, unknown model: a code, a sentence, no secret, and the prompt is not lost", async () => {
  const secret = "sk-live-abcdefghijklmnop";
  const rows = [
    [401, "key-refused"],
    [404, "not-found"],
    [undefined, "unreachable"],
  ] as const;
  for (const [statusCode, code] of rows) {
    const error = new APICallError({
      message: `Incorrect API key provided: ${secret}`,
      url: "http://x.test",
      requestBodyValues: {},
      responseBody: secret,
      ...(statusCode === undefined ? { isRetryable: true } : { statusCode }),
    });
    const kit = agentKit(() => ({ error }), { sleep: async () => {} });
    const failure = await kit.agent.generate({ threadId: "t", prompt: "hi" }).catch((thrown: unknown) => thrown);
    assert.equal((failure as { code: string }).code, code);
    assert.ok(!inspect([failure, kit.events], { depth: null }).includes(secret));
    assert.equal((await kit.said()).length, 1);
  }
});

test("a step limit ends the run with every result in the log", async () => {
  const kit = agentKit(() => call("echo", { text: "again" }), { tools: { echo }, maxSteps: 3 });
  const { end, steps } = await kit.agent.generate({ threadId: "t", prompt: "loop" });
  assert.deepEqual([end, steps], [{ kind: "step-limit", limit: 3 }, 3]);
  assert.equal((await kit.said()).length, 7);
  await isWhole(kit);
});

test("a middleware that makes a tool of a name that is taken for a run is refused by name", async () => {
  const kit = agentKit([], { tools: { echo }, middleware: [{ name: "other", tools: () => ({ echo }) }] });
  await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "x" }), { code: "duplicate-tool" });
});

/** The log verifies, and what every call was sent is valid. */
async function isWhole(kit: Kit): Promise<void> {
  assert.equal((await verify(threadDeps(kit.store), "t")).kind, "whole");
  for (const { prompt } of kit.model.calls) {
    assertValid(prompt as unknown as readonly AiSdkMessage[], aiSdkShape, rulesOf("ai-sdk"));
  }
}

async function resultIn(kit: Kit): Promise<string> {
  return textOf((await kit.said()).find(({ role }) => role === "tool")!);
}

test("a run that may wait says so, and goes on as soon as the run before it lets the thread go", async () => {
  const kit = agentKit([{ text: "first", delayMs: 1 }, "second"], { scripted: { sleep: () => release.promise } });
  const release = Promise.withResolvers<void>();
  const first = kit.agent.stream({ threadId: "t", prompt: "one" });
  for await (const event of first) if (event.type === "step-start") break;
  const second = kit.agent.stream({ threadId: "t", prompt: "two", waitMs: 60_000 });
  for await (const event of second) if (event.type === "thread-wait") break;
  release.resolve();
  assert.equal((await first.result).text, "first");
  assert.equal((await second.result).text, "second");
  assert.equal(kit.of("thread-wait").length, 1);
});

test("a run that waits for a thread can be stopped, and gives up when its time is over", async () => {
  const kit = agentKit(["hello"]);
  await kit.agent.generate({ threadId: "t", prompt: "hi" });
  await kit.store.acquireLease("t", "somebody else", 60_000);
  const stop = new AbortController();
  const stopped = kit.agent.stream({ threadId: "t", prompt: "two", waitMs: 60_000, signal: stop.signal });
  for await (const event of stopped) if (event.type === "thread-wait") stop.abort();
  assert.equal((await stopped.result).end.kind, "aborted");
  assert.equal((await kit.agent.stream({ threadId: "t", prompt: "two", waitMs: 10 }).result).end.kind, "busy");
  assert.equal((await kit.said()).length, 2);
});

test("a tool is given its call, the messages and a signal, and nothing of the run's own objects", async () => {
  let given: Record<string, unknown> = {};
  const spy = tool({
    inputSchema: z.object({}),
    execute: (_, options) => {
      given = options as never;
      return "seen";
    },
  });
  const kit = agentKit([call("spy"), "done"], { tools: { spy } });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.deepEqual(Object.keys(given).sort(), ["abortSignal", "context", "messages", "run", "toolCallId"]);
  assert.equal(given["context"], undefined);
});
