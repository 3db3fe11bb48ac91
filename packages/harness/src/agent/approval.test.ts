import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type AiSdkMessage, aiSdkShape, assertValid, rulesOf } from "@palimpsest/core/internal/message";
import type { ScriptedStep } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit, type Kit, textOf } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { withWriter } from "../thread/acts.ts";
import { threadDeps } from "../thread/writer.ts";
import { approve } from "./approval.ts";

const amount = z.object({ amount: z.number() });

/** A tool that sends money, and how often it did. */
function transferTool(needsApproval: unknown = true) {
  const sent: number[] = [];
  const transfer = tool({
    inputSchema: amount,
    needsApproval: needsApproval as boolean,
    execute: (input: { amount: number }) => {
      sent.push(input.amount);
      return `sent ${input.amount}`;
    },
  });
  return { sent, transfer };
}

const pay = (...amounts: number[]): ScriptedStep => ({
  text: "I pay.",
  calls: amounts.map((amount, at) => ({ id: `c${at + 1}`, name: "transfer", input: { amount } })),
});

const asked = (...amounts: number[]) => ({
  kind: "approval",
  calls: amounts.map((amount, at) => ({ id: `c${at + 1}`, name: "transfer", input: { amount } })),
  clientCalls: [],
});

function lastPrompt({ model }: Kit): readonly AiSdkMessage[] {
  const sent = model.calls.at(-1)!.prompt as unknown as readonly AiSdkMessage[];
  assertValid(sent, aiSdkShape, rulesOf("ai-sdk"));
  return sent;
}

const wordsOf = (kit: Kit): string => lastPrompt(kit).map(textOf).join("\n");

for (const [when, needsApproval, ends] of [
  ["always", true, "approval"],
  ["when a function says so", ({ amount }: { amount: number }) => amount > 10, "approval"],
  ["when the function itself fails", () => Promise.reject(new Error("no rules")), "answered"],
  ["not when a function says no", ({ amount }: { amount: number }) => amount > 1_000, "answered"],
  ["never", false, "answered"],
] as const) {
  test(`a tool that needs approval ${when}: the run ends ${ends}`, async (t) => {
    const { sent, transfer } = transferTool(needsApproval);
    const kit = agentKit([pay(100), "done"], { tools: { transfer } });
    t.after(() => kit.store.close());
    const { end } = await kit.agent.generate({ threadId: "t", prompt: "pay" });
    assert.equal(end.kind, ends);
    assert.deepEqual(sent, when === "never" || when.startsWith("not") ? [100] : []);
    if (ends === "approval") assert.deepEqual(end, asked(100));
    if (when.includes("fails"))
      assert.match(wordsOf(kit), /was not run, since its approval could not be decided: no rules/);
  });
}

test("an approved call is run by the next run, once, and the model reads its result", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100), "done", "later"], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  const handle = kit.agent.thread("t");
  const waits = { id: "c1", name: "transfer", input: { amount: 100 }, answer: null, reason: null };
  assert.deepEqual(await handle.approvals(), [waits]);
  assert.deepEqual(await handle.approve("c1", "yes"), { kind: "recorded", open: [] });
  assert.deepEqual(sent, []);
  const { end, text } = await kit.agent.generate({ threadId: "t" });
  assert.deepEqual([end.kind, text, sent], ["answered", "done", [100]]);
  assert.match(wordsOf(kit), /sent 100/);
  assert.deepEqual(await kit.origins(), ["user", "model", "tool", "model"]);
  assert.deepEqual(await handle.approvals(), []);
  await kit.agent.generate({ threadId: "t", prompt: "and now?" });
  assert.deepEqual(sent, [100]);
});

test("a yes holds in its own thread only: a fork asks anew", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100), "done", "done here too"], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  const parent = kit.agent.thread("t");
  await parent.approve("c1", "yes", "for the rent");
  await parent.fork({ as: "before" });
  await kit.agent.generate({ threadId: "t" });
  assert.deepEqual(sent, [100]);
  const fork = kit.agent.thread("before");
  const waits = { id: "c1", name: "transfer", input: { amount: 100 }, answer: null, reason: null };
  assert.deepEqual(await fork.approvals(), [waits]);
  assert.deepEqual((await kit.agent.generate({ threadId: "before" })).end, asked(100));
  assert.deepEqual(sent, [100]);
  await fork.approve("c1", "yes");
  assert.equal((await kit.agent.generate({ threadId: "before" })).end.kind, "answered");
  assert.deepEqual(sent, [100, 100]);
});

test("a refused call is never run, and the model is told the person's reason", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100), "as you wish"], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  await kit.agent.thread("t").approve("c1", "no", "far too much");
  const { text } = await kit.agent.generate({ threadId: "t" });
  assert.deepEqual([text, sent], ["as you wish", []]);
  assert.match(wordsOf(kit), /far too much/);
  assert.equal(kit.of("tool-end")[0]?.denied, true);
});

test("an answer that is neither yes nor no is refused, and the call waits on", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100), "done"], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  const thread = kit.agent.thread("t");
  for (const answer of ["No", "deny", "", false, true, null, undefined])
    await assert.rejects(thread.approve("c1", answer as "no"), /"yes" or "no"/, String(answer));
  assert.deepEqual((await kit.agent.generate({ threadId: "t" })).end, asked(100));
  assert.deepEqual(sent, []);
});

test("a status of toolApproval that nobody knows runs nothing, and the model is told", async (t) => {
  const { sent, transfer } = transferTool(false);
  for (const status of ["deny", "ask", { type: "refused" }]) {
    const kit = agentKit([pay(100), "done"], { tools: { transfer }, toolApproval: (() => status) as never });
    t.after(() => kit.store.close());
    await kit.agent.generate({ threadId: "t", prompt: "pay" });
    assert.match(wordsOf(kit), /was not run, since its approval could not be decided/);
  }
  assert.deepEqual(sent, []);
});

test("a call waits through a restart, and another process may answer for it", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "approval-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "threads.db");
  const { sent, transfer } = transferTool();
  const before = agentKit([pay(100)], { tools: { transfer }, store: openSqlite({ path }) });
  await before.agent.generate({ threadId: "t", prompt: "pay" });
  await before.agent.close();
  await before.store.close();

  const elsewhere = openSqlite({ path });
  const answered = await withWriter(threadDeps(elsewhere), "t", (writer) =>
    approve(writer, { callId: "c1", answer: "yes" }),
  );
  assert.deepEqual(answered, { kind: "done", value: { kind: "recorded", open: [] } });
  await elsewhere.close();

  const after = agentKit(["done"], { tools: { transfer }, store: openSqlite({ path }) });
  t.after(() => after.store.close());
  assert.equal((await after.agent.generate({ threadId: "t" })).text, "done");
  assert.deepEqual(sent, [100]);
});

test("of parallel calls each has its own answer, and a run goes on only when all of them have one", async (t) => {
  const { sent, transfer } = transferTool(({ amount }: { amount: number }) => amount > 10);
  const kit = agentKit([pay(1, 100, 200, 300), "done"], { tools: { transfer } });
  t.after(() => kit.store.close());
  const first = await kit.agent.generate({ threadId: "t", prompt: "pay" });
  assert.deepEqual(sent, [1]);
  assert.deepEqual(first.end.kind === "approval" && first.end.calls.map(({ id }) => id), ["c2", "c3", "c4"]);
  const handle = kit.agent.thread("t");
  assert.deepEqual(await handle.approve("c2", "yes"), { kind: "recorded", open: ["c3", "c4"] });
  const second = await kit.agent.generate({ threadId: "t" });
  assert.deepEqual(sent, [1, 100]);
  assert.deepEqual(second.end.kind === "approval" && second.end.calls.map(({ id }) => id), ["c3", "c4"]);
  assert.equal(kit.model.calls.length, 1);
  await handle.approve("c3", "no");
  await handle.approve("c4", "yes");
  await handle.approve("c4", "no", "changed my mind");
  assert.equal((await kit.agent.generate({ threadId: "t" })).text, "done");
  assert.deepEqual(sent, [1, 100]);
  const words = wordsOf(kit);
  for (const word of ["sent 1", "sent 100", "refused this call", "changed my mind"])
    assert.ok(words.includes(word), word);
});

test("a new message instead of an answer refuses what is open, and runs what was approved", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100, 200), "all right"], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  await kit.agent.thread("t").approve("c2", "yes");
  const { text } = await kit.agent.generate({ threadId: "t", prompt: "What is the balance?" });
  assert.deepEqual([text, sent], ["all right", [200]]);
  assert.deepEqual(await kit.agent.thread("t").approvals(), []);
  const prompt = lastPrompt(kit);
  assert.match(wordsOf(kit), /went on with something else/);
  assert.equal(textOf(prompt.at(-1)!), "What is the balance?");
});

test("answers that come as useChat sends them are taken, and one for a call that doesn't wait is refused", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100, 200), "done"], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  const response = (approvalId: string, approved: boolean) =>
    ({ type: "tool-approval-response", approvalId, approved }) as const;
  const wrong = kit.agent.generate({ threadId: "t", messages: [{ role: "tool", content: [response("c9", true)] }] });
  await assert.rejects(wrong, { code: "bad-message", message: /no call c9 of thread t waits for approval/ });
  const denied = { type: "execution-denied" as const, reason: "no" };
  const result = { type: "tool-result" as const, toolCallId: "c2", toolName: "transfer", output: denied };
  const content = [response("c1", true), response("c2", false), result];
  const { text } = await kit.agent.generate({ threadId: "t", messages: [{ role: "tool", content }] });
  assert.deepEqual([text, sent], ["done", [100]]);
  assert.equal((await kit.said()).filter(({ role }) => role === "tool").length, 1);
});

test("a call whose tool has changed or gone since is not run with arguments it no longer takes", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = agentKit([pay(100, 200)], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  await kit.agent.thread("t").approve("c1", "yes");
  await kit.agent.thread("t").approve("c2", "yes");
  let ran = 0;
  const stricter = tool({ inputSchema: z.object({ amount: z.number(), to: z.string() }), execute: () => ++ran });
  const next = agentKit(["done"], { tools: { transfer: stricter }, store: kit.store });
  assert.equal((await next.agent.generate({ threadId: "t" })).text, "done");
  assert.deepEqual([sent, ran], [[], 0]);
  assert.deepEqual(
    next.of("tool-end").map(({ isError }) => isError),
    [true, true],
  );
});

test("a call that was under way when its run was stopped is told as unfinished, never run again", async (t) => {
  const { sent, transfer } = transferTool();
  const stuck = tool({ ...transfer, execute: () => Promise.withResolvers<string>().promise } as never);
  const kit = agentKit([pay(100), "it broke off"], { tools: { transfer: stuck } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  await kit.agent.thread("t").approve("c1", "yes");
  const stop = new AbortController();
  const stream = kit.agent.stream({ threadId: "t", signal: stop.signal });
  for await (const event of stream) if (event.type === "tool-start") stop.abort();
  assert.equal((await stream.result).end.kind, "aborted");
  const next = agentKit(["it broke off"], { tools: { transfer }, store: kit.store });
  await next.agent.generate({ threadId: "t" });
  assert.deepEqual(sent, []);
  assert.match(wordsOf(next), /stopped before this tool had finished/);
});

test("an answer for a call, a thread or a user that isn't there, and for a thread that is busy, says so", async (t) => {
  const { transfer } = transferTool();
  const kit = agentKit([pay(100)], { tools: { transfer } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "pay", userId: "ann" });
  const handle = kit.agent.thread("t", { userId: "ann" });
  assert.deepEqual(await handle.approve("c7", "yes"), { kind: "not-pending", callId: "c7" });
  assert.deepEqual(await kit.agent.thread("t", { userId: "bob" }).approve("c1", "yes"), { kind: "missing" });
  assert.deepEqual(await kit.agent.thread("t", { userId: "bob" }).approvals(), []);
  const busy = await withWriter(threadDeps(kit.store.forUser!("ann")), "t", () => handle.approve("c1", "yes"));
  assert.deepEqual(busy, { kind: "done", value: { kind: "busy" } });
});

test("an agent's toolApproval goes before the tool's own word, and may allow, deny and give reasons", async (t) => {
  const { sent, transfer } = transferTool();
  const script = [pay(1, 50, 5_000), "done"];
  const toolApproval = {
    transfer: ({ amount }: { amount: number }) => {
      if (amount < 10) return "approved" as const;
      if (amount > 1_000) return { type: "denied" as const, reason: "above the limit" };
      return { type: "user-approval" as const, reason: "more than ten" };
    },
  };
  const kit = agentKit(script, { tools: { transfer }, toolApproval });
  t.after(() => kit.store.close());
  const { end } = await kit.agent.generate({ threadId: "t", prompt: "pay" });
  assert.deepEqual(end.kind === "approval" && end.calls.map(({ id }) => id), ["c2"]);
  assert.deepEqual(sent, [1]);
  assert.equal((await kit.agent.thread("t").approvals())[0]?.reason, "more than ten");
  await kit.agent.thread("t").approve("c2", "yes");
  await kit.agent.generate({ threadId: "t" });
  assert.deepEqual(sent, [1, 50]);
  assert.match(wordsOf(kit), /above the limit/);
});

test("one function decides for every tool, those of middleware included, with the run's context", async (t) => {
  const kit = deepAgentKit([{ calls: [{ id: "c1", name: "write_todos", input: { todos: [] } }] }, "done"], {
    toolApproval: ({ toolCall, runtimeContext }) =>
      toolCall.toolName === "write_todos" && (runtimeContext as { careful: boolean }).careful
        ? "user-approval"
        : undefined,
  });
  t.after(() => kit.store.close());
  const { end } = await kit.agent.generate({ threadId: "t", prompt: "plan", runtimeContext: { careful: true } });
  assert.equal(end.kind, "approval");
  await kit.agent.thread("t").approve("c1", "yes");
  const next = await kit.agent.generate({ threadId: "t", runtimeContext: { careful: true } });
  assert.equal(next.end.kind, "answered");
  assert.deepEqual(kit.of("calls-repair"), []);
});

test("a compaction while a call waits leaves the call where its result can follow", async (t) => {
  const { sent, transfer } = transferTool();
  const kit = deepAgentKit(["yes", "yes", pay(100), "done"], { tools: { transfer } });
  t.after(() => kit.store.close());
  for (const words of ["mind the rules", "and these"]) {
    await kit.agent.generate({ threadId: "t", prompt: `${words} `.repeat(400) });
  }
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  const compacted = await kit.agent.compact("t", { keep: { type: "messages", value: 1 } });
  assert.equal(compacted.kind, "compacted");
  await kit.agent.thread("t").approve("c1", "yes");
  assert.equal((await kit.agent.generate({ threadId: "t" })).text, "done");
  assert.deepEqual(sent, [100]);
  assert.match(wordsOf(kit), /sent 100/);
});
