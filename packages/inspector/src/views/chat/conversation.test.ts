import assert from "node:assert/strict";
import { test } from "node:test";
import {
  EMPTY,
  fromTranscript,
  lastTurn,
  type PageChat,
  type TranscriptPage,
  waitingCalls,
  withEvent,
  withNewest,
  withOlder,
  withPrompt,
} from "./conversation.ts";
import type { PageAgentEvent } from "./events.ts";

const message = (seq: number, role: string, ...parts: object[]) => ({
  seq,
  kind: "message",
  role,
  origin: role === "user" ? "user" : "model",
  parts,
});
const text = (words: string) => ({ kind: "text", text: words });
const page = (...entries: TranscriptPage["entries"]): TranscriptPage => ({ entries, before: null, children: [] });

/** One line for each entry, as a person would tell it. */
function told({ entries }: PageChat): string[] {
  return entries.map((entry) => {
    if (entry.kind === "act") return `${entry.act}${entry.isOpen ? "…" : ""}: ${entry.text}`;
    const parts = entry.parts.map((part) => {
      if (part.kind === "call") return `${part.name}(${part.input}) ${part.state} ${part.output ?? "-"}`;
      return "text" in part ? part.text : part.kind;
    });
    return `${entry.role} ${entry.seq ?? "new"}: ${parts.join(" | ")}`;
  });
}

const played = (...events: PageAgentEvent[]) => events.reduce(withEvent, withPrompt(EMPTY, "Hi"));

test("results stand with their calls, usage with its answer, acts where they happened", () => {
  const conversation = fromTranscript(
    page(
      message(1, "user", text("Read it")),
      message(2, "assistant", text("I will"), { kind: "call", id: "c", name: "read", text: "{}" }),
      { seq: 3, kind: "usage", of: 2, model: "m", input: 10, output: 2 },
      message(4, "tool", { kind: "result", id: "c", name: "read", isError: true, text: "no such file" }),
      {
        seq: 5,
        kind: "compaction",
        covers: [1, 2],
        rung: "summarize",
        reason: "trigger",
        tokensBefore: 9,
        tokensAfter: 4,
      },
      message(6, "tool", { kind: "result", id: "other", name: "x", isError: false, text: "alone" }),
    ),
  );
  assert.deepEqual(told(conversation), [
    "user 1: Read it",
    "assistant 2: I will | read({}) failed no such file",
    "compaction: Compacted #1 to #2: 9 → 4 tokens",
    "tool 6: alone",
  ]);
  assert.deepEqual(conversation.entries[1]?.kind === "said" && conversation.entries[1].usage?.input, 10);
});

test("an answer grows piece by piece, and its calls are carried out within it", () => {
  const conversation = played(
    { type: "message-append", seq: 1, role: "user" },
    { type: "text-delta", id: "t", text: "I " },
    { type: "text-delta", id: "t", text: "look" },
    { type: "tool-input-start", callId: "c", name: "read" },
    { type: "tool-input-delta", callId: "c", text: '{"a":' },
    { type: "tool-start", callId: "c", name: "read", input: { a: 1 } },
    { type: "message-append", seq: 2, role: "assistant" },
    { type: "tool-end", callId: "c", name: "read", output: "ok", isError: false, ms: 3 },
    { type: "message-append", seq: 3, role: "tool" },
    { type: "text-delta", id: "u", text: "Done" },
  );
  assert.deepEqual(told(conversation), [
    "user 1: Hi",
    'assistant 2: I look | read({\n  "a": 1\n}) done ok',
    "assistant new: Done",
  ]);
});

test("a compaction is told as it happens, and not at all where nothing changed", () => {
  const start: PageAgentEvent = { type: "compaction-start", hide: 8, keep: 3 };
  const end = (outcome: object) => ({ type: "compaction-end", messages: 3, outcome }) as unknown as PageAgentEvent;
  const facts = {
    rung: "extract",
    reason: "trigger",
    tokensBefore: 30,
    tokensAfter: 9,
    hidden: [1, 8],
    shortened: null,
  };
  assert.deepEqual(told(played(start)).at(-1), "compaction…: Compacting");
  assert.deepEqual(told(played(start, end({ kind: "compacted", ...facts }))).slice(1), [
    "compaction: Compacted #1 to #8: 30 → 9 tokens",
  ]);
  assert.equal(told(played(start, end({ kind: "unchanged", reason: "no-shrink" }))).length, 1);
  const shortened = { seq: 9, tokens: 13_567, first: 3600, last: 2400 };
  const clamped = { ...facts, kind: "compacted", rung: "clamp", hidden: null, shortened };
  assert.deepEqual(told(played(start, end(clamped))).slice(1), [
    "compaction: Your message was too long for the window; the model sees the first 3,600 and last 2,400 of its 13,567 tokens. Shortened: 30 → 9 tokens",
  ]);
});

test("a sub-agent's work stands within the call that asked for it", () => {
  const child = { threadId: "sub", callId: "c", agent: "explore" };
  const conversation = played(
    { type: "tool-start", callId: "c", name: "task", input: {} },
    { ...child, type: "subagent-start", description: "Look around" },
    { ...child, type: "subagent-event", event: { type: "text-delta", id: "t", text: "Looking" } },
    { ...child, type: "subagent-end", status: "completed" },
  );
  const [, answer] = conversation.entries;
  const call = answer?.kind === "said" ? answer.parts[0] : null;
  assert.ok(call?.kind === "call" && call.child !== null);
  assert.deepEqual([call.child.thread, call.child.status], ["sub", "completed"]);
  assert.deepEqual(call.child.parts, [{ kind: "text", id: "t", text: "Looking" }]);
});

test("a call that waits is found, and what ends a run is said", () => {
  const asked = played(
    { type: "tool-start", callId: "c", name: "bash", input: {} },
    { type: "approval-ask", callId: "c", name: "bash", input: {}, reason: null },
  );
  assert.deepEqual(
    waitingCalls(asked).map(({ id }) => id),
    ["c"],
  );
  const failed = { kind: "failed", code: "overloaded", message: "It is too busy" } as const;
  assert.equal(
    told(withEvent(asked, { type: "run-end", end: failed } as PageAgentEvent)).at(-1),
    "problem: It is too busy",
  );
  assert.match(told(withEvent(asked, { type: "run-end", end: { kind: "aborted" } })).at(-1)!, /Stopped/);
});

test("the newest page replaces what was shown under the same keys; an older one goes before it", () => {
  const now = played({ type: "message-append", seq: 3, role: "user" }, { type: "text-delta", id: "t", text: "Yes" });
  const newest = withNewest(
    withEvent(now, { type: "message-append", seq: 4, role: "assistant" }),
    page(message(3, "user", text("Hi")), message(4, "assistant", text("Yes!"))),
  );
  assert.deepEqual(told(newest), ["user 3: Hi", "assistant 4: Yes!"]);
  assert.deepEqual(
    newest.entries.map(({ key }) => key),
    now.entries.map(({ key }) => key),
  );
  assert.deepEqual(told(withOlder(newest, page(message(1, "user", text("First")))))[0], "user 1: First");
  assert.deepEqual(lastTurn(newest), { question: 3, answer: 4 });
  assert.equal(lastTurn(EMPTY), null);
});
