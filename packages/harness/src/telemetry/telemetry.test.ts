import assert from "node:assert/strict";
import { test } from "node:test";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { scriptedModel } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit } from "../../test/agent/agent-kit.ts";
import type { Middleware } from "../agent/run.ts";
import { telemetry } from "./telemetry.ts";

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const SECRET = "quicksilver";
const look = tool({
  inputSchema: z.object({ at: z.string() }),
  execute: ({ at }) => {
    trace.getActiveSpan()?.addEvent("inside the tool");
    return `${at}: ${SECRET}`;
  },
});

test("a run, its model calls and its tools are spans by the conventions, and nothing that was said is in them", async () => {
  const { tracer, spans } = recording();
  const kit = agentKit([{ calls: [{ name: "look", input: { at: SECRET } }] }, `It is ${SECRET}.`], {
    tools: { look },
    middleware: [telemetry({ tracer })],
  });
  await tracer.startActiveSpan("request", async (outer) => {
    await kit.agent.generate({ threadId: "harbor", prompt: `Where is the ${SECRET}?` });
    outer.end();
  });
  const [request, run] = [spans.named("request")!, spans.named("invoke_agent default")!];
  assert.equal(run.parentSpanContext?.spanId, request.spanContext().spanId);
  assert.equal(run.attributes["gen_ai.operation.name"], "invoke_agent");
  assert.equal(run.attributes["gen_ai.agent.name"], "default");
  assert.equal(run.attributes["gen_ai.conversation.id"], "harbor");
  assert.equal(run.attributes["palimpsest.run.end"], "answered");
  const chats = spans.all().filter(({ name }) => name.startsWith("chat "));
  assert.equal(chats.length, 2);
  for (const chat of chats) {
    assert.equal(chat.kind, SpanKind.CLIENT);
    assert.equal(chat.parentSpanContext?.spanId, run.spanContext().spanId);
    assert.equal(typeof chat.attributes["gen_ai.usage.input_tokens"], "number");
    assert.equal(chat.name, `chat ${chat.attributes["gen_ai.request.model"]}`);
  }
  assert.equal(typeof chats[1]!.attributes["gen_ai.response.time_to_first_chunk"], "number");
  const [executed] = spans.all().filter(({ name }) => name === "execute_tool look");
  assert.equal(executed!.parentSpanContext?.spanId, run.spanContext().spanId);
  assert.deepEqual(
    executed!.events.map(({ name }) => name),
    ["inside the tool"],
  );
  assert.doesNotMatch(spans.text(), new RegExp(SECRET));
});

test("what was said is recorded when that is asked for", async () => {
  const { tracer, spans } = recording();
  const kit = agentKit([{ calls: [{ name: "look", input: { at: "pier 7" } }] }, "Found."], {
    tools: { look },
    middleware: [telemetry({ tracer, recordContent: true })],
  });
  await kit.agent.generate({ prompt: "Where is the Marigold?" });
  const [chat] = spans.all().filter(({ name }) => name.startsWith("chat "));
  assert.match(String(chat!.attributes["gen_ai.input.messages"]), /Where is the Marigold/);
  const executed = spans.named("execute_tool look")!;
  assert.match(String(executed.attributes["gen_ai.tool.call.arguments"]), /pier 7/);
  assert.match(String(executed.attributes["gen_ai.tool.call.result"]), /pier 7: quicksilver/);
});

test("the span of a model call is the active one while the model is asked", async () => {
  const { tracer, spans } = recording();
  const kit = agentKit(
    () => {
      trace.getActiveSpan()?.addEvent("inside the model");
      return "done";
    },
    { middleware: [telemetry({ tracer })] },
  );
  await kit.agent.generate({ prompt: "x" });
  const [chat] = spans.all().filter(({ name }) => name.startsWith("chat "));
  assert.ok(chat!.events.some(({ name }) => name === "inside the model"));
});

test("each compaction is a span with its rung and the tokens before and after", async () => {
  const { tracer, spans } = recording();
  const words = "the tide comes in and goes out again ".repeat(30);
  const kit = deepAgentKit(({ index }) => `Answer ${index}: ${words}`, {
    window: 8_000,
    middleware: [telemetry({ tracer })],
  });
  for (let turn = 0; turn < 20; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${words}` });
  const compactions = spans.all().filter(({ name }) => name === "palimpsest.compaction");
  assert.ok(compactions.length >= 1);
  const { attributes } = compactions[0]!;
  assert.equal(attributes["palimpsest.compaction.outcome"], "compacted");
  assert.equal(attributes["palimpsest.compaction.rung"], "extract");
  assert.ok(
    Number(attributes["palimpsest.compaction.tokens_before"]) >
      Number(attributes["palimpsest.compaction.tokens_after"]),
  );
  assert.doesNotMatch(spans.text(), /tide/);
});

test("what a summary took of its summarizer is a span under the compaction that it was written for", async () => {
  const { tracer, spans } = recording();
  const words = "the tide comes in and goes out again ".repeat(30);
  const kit = deepAgentKit(({ index }) => `Answer ${index}: ${words}`, {
    window: 100_000,
    summarizer: scriptedModel(() => '{"add": {"facts": [{"text": "The tide was spoken of", "seqs": [1]}]}}'),
    summarization: { trigger: { type: "messages", value: 12 }, keep: { type: "messages", value: 4 }, drafts: false },
    middleware: [telemetry({ tracer })],
  });
  for (let turn = 0; turn < 8; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${words}` });
  const [usage] = kit.of("summary-usage");
  const { attributes, parentSpanContext } = spans.named("palimpsest.summary")!;
  const compactions = spans.all().filter(({ name }) => name === "palimpsest.compaction");
  assert.ok(compactions.some((span) => span.spanContext().spanId === parentSpanContext?.spanId));
  assert.deepEqual(
    [attributes["palimpsest.summary.calls"], attributes["gen_ai.usage.input_tokens"]],
    [usage!.calls, usage!.input],
  );
  assert.doesNotMatch(spans.text(), /tide/);
});

test("a failing call and a failing run say so by kind, not by words", async () => {
  const { tracer, spans } = recording();
  const kit = agentKit([{ error: new Error(`no such key: ${SECRET}`) }], {
    middleware: [telemetry({ tracer })],
  });
  const { end } = await kit.agent
    .generate({ prompt: "x" })
    .catch((error: unknown) => ({ end: { kind: String(error) } }));
  const run = spans.named("invoke_agent default")!;
  assert.equal(run.status.code, SpanStatusCode.ERROR, JSON.stringify(end));
  assert.ok(run.attributes["error.type"]);
  assert.doesNotMatch(spans.text(), new RegExp(SECRET));
});

test("what memory lends to a question is a span as long as it was looked for, without the words", async () => {
  const { tracer, spans } = recording();
  const lends: Middleware = {
    name: "lends",
    beforeAgent: ({ emit, threadId }) =>
      emit({
        type: "memory-injected",
        threadId,
        lane: "evidence",
        ids: ["f1", "f2"],
        tokens: 40,
        hash: "h",
        ms: 2500,
      }),
  };
  const kit = agentKit(["done"], { middleware: [telemetry({ tracer }), lends] });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const span = spans.named("search_memory")!;
  assert.equal(span.parentSpanContext?.spanId, spans.named("invoke_agent default")?.spanContext().spanId);
  assert.deepEqual(span.duration, [2, 500_000_000]);
  assert.deepEqual([span.attributes["palimpsest.memory.items"], span.attributes["palimpsest.memory.tokens"]], [2, 40]);
});

function recording() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const all = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return {
    tracer: provider.getTracer("test"),
    spans: {
      all,
      named: (name: string) => all().find((span) => span.name === name),
      text: () =>
        JSON.stringify(all().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))),
    },
  };
}
