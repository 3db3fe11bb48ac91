// Sessions of programs, written by hand the way each writes them: what becomes a thread, a fork, a sub-agent, a mark.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ImportPiece } from "../piece.ts";
import { pieceStream } from "../piece-stream.ts";

function piecesOf(...lines: readonly object[]) {
  const stream = pieceStream();
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const pieces = [...stream.push(Buffer.from(`${text}\n`)), ...stream.end()];
  const threads = new Map<string, { from: unknown; said: string[]; usage: number[]; marks: unknown[] }>();
  for (const piece of pieces) {
    if (piece.kind === "thread") {
      const from = piece.fork ?? (piece.childOf === null ? null : { childOf: piece.childOf });
      threads.set(piece.key, { from, said: [], usage: [], marks: [] });
    } else if (piece.kind === "message") threads.get(piece.key)!.said.push(wordsOf(piece.message.value));
    else if (piece.kind === "usage") threads.get(piece.key)!.usage.push(piece.usage.output);
    else if (piece.kind === "mark")
      threads.get(piece.key)!.marks.push(piece.event["summary"] ?? piece.event["trigger"]);
  }
  const opened = pieces.filter((piece) => piece.kind === "thread");
  return { format: stream.format()?.id, threads, opened, left: pieces.filter(isLeft).map(({ what }) => what) };
}

const isLeft = (piece: ImportPiece): piece is Extract<ImportPiece, { kind: "left" }> => piece.kind === "left";

function wordsOf({ content, arguments: input, output }: Readonly<Record<string, unknown>>): string {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? content : [{ text: input ?? output }];
  return blocks.map((block) => block.text ?? block.thinking ?? block.name ?? block.content).join("|");
}

const line = (uuid: string, parentUuid: string | null, type: string, message: unknown, more: object = {}) => ({
  parentUuid,
  isSidechain: false,
  cwd: "/work/bridge",
  sessionId: "s1",
  version: "2.1.44",
  type,
  message,
  uuid,
  timestamp: "2026-01-02T03:04:05.000Z",
  ...more,
});

const asks = (uuid: string, parent: string | null, content: unknown, more: object = {}) =>
  line(uuid, parent, "user", { role: "user", content }, more);

const answers = (uuid: string, parent: string, id: string, block: object, output = 1, more: object = {}) => {
  const usage = { input_tokens: 3, output_tokens: output, cache_read_input_tokens: 9 };
  return line(
    uuid,
    parent,
    "assistant",
    { id, model: "claude-sonnet-5", role: "assistant", content: [block], usage },
    more,
  );
};

const text = (words: string) => ({ type: "text", text: words });
const call = (id: string) => ({ type: "tool_use", id, name: "Read", input: {} });
const result = (id: string, content: string) => [{ type: "tool_result", tool_use_id: id, content }];

test("Claude Code: calls made together are one way, an edited question is a fork, each answer is reported once", () => {
  const { format, threads, opened } = piecesOf(
    { type: "summary", summary: "Two files", leafUuid: "a6" },
    { type: "file-history-snapshot", messageId: "x", snapshot: {} },
    asks("u1", null, "read both"),
    answers("a1", "u1", "m1", text("Reading."), 2),
    answers("a2", "a1", "m1", call("c1"), 5),
    answers("a3", "a2", "m1", call("c2"), 40),
    asks("r1", "a2", result("c1", "one")),
    asks("r2", "a3", result("c2", "two")),
    answers("a4", "r1", "m2", text("Both read."), 7),
    asks("u2", "a4", "now write"),
    answers("a5", "u2", "m3", text("Written."), 8),
    asks("u2b", "a4", "now draw"),
    answers("a6", "u2b", "m4", text("Drawn."), 9),
  );
  assert.equal(format, "claude-code");
  assert.deepEqual([...threads.keys()], ["session", "session fork 1"]);
  const main = threads.get("session")!;
  assert.deepEqual(main.said, [
    "read both",
    "Reading.",
    "Read",
    "Read",
    "one",
    "two",
    "Both read.",
    "now write",
    "Written.",
  ]);
  assert.deepEqual(main.usage, [40, 7, 8]);
  const fork = threads.get("session fork 1")!;
  assert.deepEqual([fork.from, fork.said, fork.usage], [{ of: "session", after: 7 }, ["now draw", "Drawn."], [9]]);
  assert.deepEqual(opened[0]!.source, { program: "claude-code", session: "s1", project: "/work/bridge", parent: null });
  assert.equal(opened[0]!.title, "Two files");
});

test("Claude Code: side chains are sub-agents, compactions are marks, and what says something else is named", () => {
  const side = { isSidechain: true, agentId: "a7" };
  const { threads, left } = piecesOf(
    asks("u1", null, "look into it"),
    answers("a1", "u1", "m1", call("t1")),
    asks("s1", null, "You look.", side),
    answers("s2", "s1", "m2", text("Seen."), 3, side),
    asks("r1", "a1", result("t1", "Seen.")),
    line("x1", "r1", "progress", undefined, { data: {} }),
    line("b1", null, "system", undefined, {
      subtype: "compact_boundary",
      logicalParentUuid: "r1",
      compactMetadata: { trigger: "auto", preTokens: 155_000 },
    }),
    asks("k1", "b1", "This session continues ...", { isCompactSummary: true }),
    asks("u2", "k1", "and now?"),
    line("h1", "u2", "system", undefined, { subtype: "stop_hook_summary", content: "hook said no" }),
  );
  const main = threads.get("session")!;
  assert.deepEqual(main.said, ["look into it", "Read", "Seen.", "and now?"]);
  assert.deepEqual(main.marks, ["auto", "This session continues ..."]);
  const agent = threads.get("agent a7")!;
  assert.deepEqual([agent.from, agent.said], [{ childOf: "session" }, ["You look.", "Seen."]]);
  assert.deepEqual(left, ["a line of the type progress", "a note of Claude Code (stop_hook_summary)"]);
});

test("Codex: turns that were taken back stay, what came instead is a fork, a compaction is a mark", () => {
  const item = (payload: object) => ({ timestamp: "2026-01-02T03:04:05.000Z", type: "response_item", payload });
  const says = (role: string, words: string) =>
    item({ type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text: words }] });
  const { threads, opened } = piecesOf(
    {
      type: "session_meta",
      payload: { id: "r9", cwd: "/w", source: { subagent: { thread_spawn: { parent_thread_id: "r8" } } } },
    },
    says("user", "one"),
    says("assistant", "1"),
    says("user", "two"),
    says("assistant", "2"),
    { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } },
    says("user", "three"),
    { type: "compacted", payload: { message: "So far: one, three." } },
    says("assistant", "3"),
  );
  assert.deepEqual(threads.get("rollout")!.said, ["one", "1", "two", "2"]);
  const fork = threads.get("rollout fork 1")!;
  assert.deepEqual([fork.from, fork.said], [{ of: "rollout", after: 2 }, ["three", "3"]]);
  assert.deepEqual(fork.marks, ["So far: one, three."]);
  assert.deepEqual(opened[0]!.source, { program: "codex", session: "r9", project: "/w", parent: "r8" });
});

test("pi: entries that leave another than the last are forks, tool results and shell commands are kept", () => {
  const entry = (id: string, parentId: string | null, message: object) => ({
    type: "message",
    id,
    parentId,
    timestamp: "2026-01-02T03:04:05.000Z",
    message,
  });
  const { format, threads, left } = piecesOf(
    { type: "session", version: 3, id: "p1", timestamp: "2026-01-02T03:04:05.000Z", cwd: "/w" },
    entry("1", null, { role: "user", content: "list" }),
    entry("2", "1", {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "ls" },
        { type: "toolCall", id: "c", name: "bash", arguments: {} },
      ],
      model: "claude-sonnet-5",
      usage: { input: 5, output: 3, cacheRead: 0, cacheWrite: 0 },
    }),
    entry("3", "2", { role: "toolResult", toolCallId: "c", toolName: "bash", content: [text("a b")], isError: false }),
    { type: "compaction", id: "4", parentId: "3", summary: "listed", firstKeptEntryId: "3", tokensBefore: 900 },
    entry("5", "4", { role: "bashExecution", command: "pwd", output: "/w" }),
    entry("6", "3", { role: "user", content: "another way" }),
    { type: "hologram", id: "7", parentId: "6" },
  );
  assert.equal(format, "pi");
  const main = threads.get("session")!;
  assert.deepEqual([main.said.length, main.said.at(-1), main.marks], [4, "$ pwd\n/w", ["listed"]]);
  assert.deepEqual(threads.get("session fork 1")!.from, { of: "session", after: 3 });
  assert.deepEqual(left, ["an entry of the type hologram"]);
});

test("opencode: an answer's calls get their results in a message of the user, and its tokens are read", () => {
  const { format, threads, opened, left } = piecesOf({
    info: { id: "ses_1", title: "Lamp", directory: "/w", parentID: "ses_0" },
    messages: [
      {
        info: { id: "m1", role: "user", time: { created: 1_767_323_045_000 } },
        parts: [{ type: "text", text: "why?" }],
      },
      {
        info: {
          id: "m2",
          role: "assistant",
          modelID: "claude-sonnet-5",
          tokens: { input: 4, output: 2, cache: { read: 6, write: 0 } },
        },
        parts: [
          { type: "step-start" },
          { type: "reasoning", text: "look" },
          { type: "tool", callID: "c", tool: "read", state: { status: "completed", input: {}, output: "broken" } },
          { type: "text", text: "It is broken." },
          { type: "subtask", prompt: "x" },
        ],
      },
    ],
  });
  assert.equal(format, "opencode");
  assert.deepEqual([...threads.values()][0]?.said, ["why?", "look|read", "broken", "It is broken."]);
  assert.deepEqual(opened[0]!.source, { program: "opencode", session: "ses_1", project: "/w", parent: "ses_0" });
  assert.deepEqual(left, ["a part of the type subtask"]);
});
