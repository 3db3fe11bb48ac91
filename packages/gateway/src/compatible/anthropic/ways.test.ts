// Anthropic's own ways where no engine matters: counts, thinking, the offline model, the memory tool through the runner.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { createMemoryTool } from "palimpsest";
import { beforeProvider } from "../../../test/before-provider.ts";
import { running } from "../../../test/running.ts";

type Message = Anthropic.Beta.BetaMessageParam;

const clientOf = ({ url }: { readonly url: string }) =>
  new Anthropic({ apiKey: "client", baseURL: url, maxRetries: 0 });
const user = (content: string): Message => ({ role: "user", content });

test("a count says what would be sent after the edits, and what it was before", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok" });
  const { beta } = clientOf(served);
  const messages: Message[] = [user("Look.")];
  for (let index = 0; index < 5; index += 1)
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id: `c${index}`, name: "sound", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `c${index}`, content: "seven fathoms ".repeat(50) }],
      },
    );
  const trigger = { type: "tool_uses" as const, value: 2 };
  const keep = { type: "tool_uses" as const, value: 1 };
  const context_management = { edits: [{ type: "clear_tool_uses_20250919" as const, trigger, keep }] };
  const plain = await beta.messages.countTokens({ model: "claude", messages });
  const edited = await beta.messages.countTokens({ model: "claude", messages, context_management });
  assert.equal(plain.context_management, undefined);
  assert.equal(edited.context_management?.original_input_tokens, plain.input_tokens);
  assert.ok(edited.input_tokens < plain.input_tokens / 2, `${edited.input_tokens} of ${plain.input_tokens}`);
  assert.deepEqual((await served.home.store.threads()).threads, [], "counting keeps nothing");
  const sent = await beta.messages.create({ model: "claude", max_tokens: 10, messages, context_management });
  assert.ok(sent.usage.input_tokens < plain.input_tokens / 2);
});

test("old thinking isn't sent where that is asked for, and a model that binds its thoughts takes what is", async (t) => {
  for (const [model, binding, left] of [
    ["claude", "off", 1],
    ["bound", "prefix", 0],
  ] as const) {
    const served = await beforeProvider(t, {
      binding,
      respond: ({ index }) => ({ reasoning: `Thought ${index}.`, text: `answer ${index}` }),
    });
    const { beta } = clientOf(served);
    const messages: Message[] = [];
    const edits = [{ type: "clear_thinking_20251015" as const, keep: { type: "thinking_turns" as const, value: 1 } }];
    const thinking = { type: "adaptive" as const };
    let last: Anthropic.Beta.BetaMessage | null = null;
    for (let turn = 0; turn < 4; turn += 1) {
      messages.push(user(`question ${turn}`));
      const isEdited = turn === 3;
      last = await beta.messages.create({
        model,
        max_tokens: 100,
        messages,
        thinking,
        ...(isEdited && { context_management: { edits } }),
      });
      messages.push({ role: "assistant", content: last.content });
    }
    const applied = last!.context_management!.applied_edits[0];
    assert.ok(applied?.type === "clear_thinking_20251015", model);
    assert.equal(applied.cleared_thinking_turns, 3 - left);
    const sent = JSON.stringify(served.provider.requests.at(-1)!.body!["messages"]);
    assert.equal((sent.match(/"thinking":"Thought/g) ?? []).length, left, model);
    assert.deepEqual(new Set(served.provider.requests.map(({ verdict }) => verdict.kind)), new Set(["answered"]));
  }
});

test("with nothing configured the offline model holds threads and compacts as well", async (t) => {
  const { beta } = clientOf(await running(t));
  const params = { model: "any", max_tokens: 100 };
  const first = await beta.messages.create({
    ...params,
    messages: [user("The harbor is seven fathoms deep.") as never],
    thread: { type: "create" },
  });
  const second = await beta.messages
    .stream({
      ...params,
      messages: [user("How deep is the harbor?") as never],
      thread: { type: "continue", previous_message_id: first.id },
    })
    .finalMessage();
  assert.match(JSON.stringify(second.content), /seven fathoms/);
  assert.notEqual(second.id, first.id);
  const third = await beta.messages.create({
    ...params,
    messages: [],
    thread: { type: "continue", previous_message_id: second.id },
    compaction: { type: "summarize" },
  });
  assert.equal(third.stop_reason, "compaction");
  assert.match(JSON.stringify(third.content), /seven fathoms/);
});

test("the memory tool works in the runner, through a thread", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "memories-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const memory = createMemoryTool({ files: folder });
  const create = { command: "create", path: "/memories/depth.md", file_text: "seven fathoms" };
  const served = await beforeProvider(t, {
    respond: ({ turns }) =>
      turns.at(-1)?.role === "tool" ? "Noted." : { text: "", calls: [{ id: "c1", name: "memory", input: create }] },
  });
  const runner = clientOf(served).beta.messages.toolRunner({
    model: "claude",
    max_tokens: 100,
    messages: [user("Note the depth.") as never],
    tools: [betaMemoryTool(memory)],
  });
  const last = await runner.runUntilDone();
  assert.deepEqual(last.content, [{ type: "text", text: "Noted." }]);
  assert.match(await memory.view({ path: "/memories/depth.md" }), /1\tseven fathoms/);
});

test("one compactor: ours carries the vendor's parameters out, native and off leave them to it, and no one does both", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok" });
  const { beta } = clientOf(served);
  const edits = [{ type: "clear_thinking_20251015" as const }];
  for (const [compaction, reaches] of [
    ["ours", []],
    ["native", ["context_management", "thread"]],
    ["off", ["context_management"]],
  ] as const) {
    const headers = { "x-palimpsest-compaction": compaction };
    const thread = { type: "create" as const };
    const messages = [user(compaction) as never];
    const params = { model: "claude", max_tokens: 10, messages, thread, context_management: { edits } };
    const answer = await beta.messages.create(params, { headers });
    const { body } = served.provider.requests.at(-1)!;
    const named = ["context_management", "thread"].filter((name) => name in body!);
    assert.deepEqual(named, reaches, compaction);
    assert.equal(answer.context_management != null, compaction === "ours");
  }
});
