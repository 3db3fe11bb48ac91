// A generated corpus: files of every format, with what it knows and what nobody knows, in any order. Nothing that had text
// may be gone without being named.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pieceStream } from "../piece-stream.ts";

/** What a generated entry is: who speaks, in what kind of block, and whether it hangs on the entry before it. */
interface Entry {
  readonly role: "user" | "assistant";
  readonly kind: number;
  readonly parent: number;
}

type Write = (entries: readonly Entry[], word: (index: number) => string) => readonly object[];

const KINDS = 6;

const anthropicBlock = (kind: number, text: string): object =>
  [
    { type: "text", text },
    { type: "thinking", thinking: text, signature: "" },
    { type: "tool_use", id: text, name: "look", input: { text } },
    { type: "tool_result", tool_use_id: "x", content: text },
    { type: "hologram", text },
    { type: "text", text, citations: [] },
  ][kind % KINDS]!;

const parentOf = (entries: readonly Entry[], index: number): number | null =>
  index === 0 ? null : Math.max(0, index - 1 - (entries[index]!.parent % 3));

/** No program's own format, but messages of a dialect. */
const CHECKPOINTS = "langgraph checkpoints";

const CORPUS: Readonly<Record<string, Write>> = {
  "claude-code": (entries, word) =>
    entries.map(({ role, kind }, index) => {
      const parent = parentOf(entries, index);
      const line = { uuid: `u${index}`, parentUuid: parent === null ? null : `u${parent}`, sessionId: "s" };
      if (kind === 4) return { ...line, type: "system", subtype: "note", content: word(index) };
      if (kind === 5) return { ...line, type: "futuristic", content: word(index) };
      const message = { role, id: `m${index}`, content: [anthropicBlock(kind, word(index))] };
      return { ...line, type: role, message, isSidechain: index > 0 && kind === 3 };
    }),
  codex: (entries, word) =>
    entries.map(({ role, kind }, index) => {
      const payload = [
        { type: "message", role, content: [{ type: "input_text", text: word(index) }] },
        { type: "function_call", name: "f", arguments: word(index), call_id: "c" },
        { type: "function_call_output", call_id: "c", output: word(index) },
        { type: "reasoning", summary: [{ type: "summary_text", text: word(index) }] },
      ][kind];
      if (payload !== undefined) return { type: "response_item", payload };
      return kind === 4
        ? { type: "compacted", payload: { message: word(index) } }
        : { type: "futuristic", payload: { text: word(index) } };
    }),
  chatgpt: (entries, word) => [
    {
      current_node: `n${entries.length - 1}`,
      mapping: Object.fromEntries(
        entries.map(({ role, kind }, index) => {
          const parent = parentOf(entries, index);
          const children = entries.flatMap((_, at) => (parentOf(entries, at) === index ? [`n${at}`] : []));
          const content = [
            { content_type: "text", parts: [word(index)] },
            { content_type: "code", text: word(index) },
            { content_type: "thoughts", thoughts: [{ content: word(index) }] },
            { content_type: "multimodal_text", parts: [{ content_type: "hologram", x: word(index) }] },
            { content_type: "futuristic", words: word(index) },
            { content_type: "text", parts: [{ text: word(index) }] },
          ][kind]!;
          const message = { author: { role }, content, recipient: "all" };
          return [`n${index}`, { id: `n${index}`, parent: parent === null ? null : `n${parent}`, children, message }];
        }),
      ),
    },
  ],
  "claude-ai": (entries, word) => [
    {
      uuid: "c",
      chat_messages: entries.map(({ role, kind }, index) => {
        const parent = parentOf(entries, index);
        const sender = role === "user" ? "human" : "assistant";
        const content = [anthropicBlock(kind, word(index))];
        return { uuid: `n${index}`, parent_message_uuid: parent === null ? "root" : `n${parent}`, sender, content };
      }),
    },
  ],
  "gemini-cli": (entries, word) => [
    { sessionId: "s", projectHash: "p" },
    ...entries.map(({ role, kind }, index) => {
      const type = kind === 5 ? "info" : role === "user" ? "user" : "gemini";
      return { id: `i${index}`, type, content: kind === 1 ? [{ text: word(index) }] : word(index) };
    }),
  ],
  opencode: (entries, word) => [
    {
      info: { id: "ses" },
      messages: entries.map(({ role, kind }, index) => {
        const part = [
          { type: "text", text: word(index) },
          { type: "reasoning", text: word(index) },
          { type: "tool", callID: "c", tool: "t", state: { status: "completed", input: {}, output: word(index) } },
          { type: "tool", callID: "c", tool: "t", state: { status: "error", input: {}, error: word(index) } },
          { type: "futuristic", text: word(index) },
          { type: "file", filename: word(index), mime: "a/b", url: "u" },
        ][kind];
        return { info: { id: `m${index}`, role }, parts: [part] };
      }),
    },
  ],
  pi: (entries, word) => [
    { type: "session", version: 3, id: "p", cwd: "/w", timestamp: "2026-01-01T00:00:00Z" },
    ...entries.map(({ role, kind }, index) => {
      const parent = parentOf(entries, index);
      const entry = { id: `e${index}`, parentId: parent === null ? null : `e${parent}` };
      const message = [
        { role, content: [{ type: "text", text: word(index) }] },
        { role: "toolResult", toolCallId: "c", content: [{ type: "text", text: word(index) }] },
        { role: "bashExecution", command: "ls", output: word(index) },
        { role: "assistant", content: [{ type: "hologram", text: word(index) }] },
      ][kind];
      if (message !== undefined) return { ...entry, type: "message", message };
      return { ...entry, type: kind === 4 ? "compaction" : "futuristic", summary: word(index) };
    }),
  ],
  sharegpt: (entries, word) => [
    {
      conversations: entries.map(({ kind }, index) => {
        const from = ["human", "gpt", "function_call", "observation", "narrator", "system"][kind];
        return { from, value: word(index) };
      }),
    },
  ],
  [CHECKPOINTS]: (entries, word) => {
    const message = (index: number): object => {
      const type = entries[index]!.role === "user" ? "human" : "ai";
      const id = `m${index}`;
      return [
        { type, data: { id, content: word(index) } },
        { type, data: { id, content: [{ type: "text", text: word(index) }] } },
        { type: "ai", data: { id, content: "", tool_calls: [{ id: "c", name: "f", args: { text: word(index) } }] } },
        { type: "tool", data: { content: word(index), tool_call_id: "c" } },
        { type, data: { id: "same", content: "same", additional_kwargs: { reasoning_content: word(index) } } },
        { type, data: { id, content: "" } },
      ][entries[index]!.kind]!;
    };
    const path = (index: number | null): readonly object[] =>
      index === null ? [] : [...path(parentOf(entries, index)), message(index)];
    return entries
      .map(({ kind }, index) => {
        const parent = parentOf(entries, index);
        const values = { messages: path(index), ...(kind === 5 && { notes: word(index) }) };
        const configurable = { thread_id: "t", checkpoint_id: `c${index}` };
        const parentConfig = { configurable: { thread_id: "t", checkpoint_id: `c${parent}` } };
        return { values, config: { configurable }, ...(parent !== null && { parentConfig }) };
      })
      .toReversed();
  },
  "ui-messages": (entries, word) =>
    entries.map(({ role, kind }, index) => {
      const part = [
        { type: "text", text: word(index) },
        { type: "reasoning", text: word(index) },
        { type: "data-note", data: word(index) },
        { type: "source-url", sourceId: "s", url: word(index) },
        { type: "text", text: word(index) },
        { type: "futuristic", text: word(index) },
      ][kind];
      return { id: `i${index}`, role, parts: [part] };
    }),
};

const entry = fc.record({
  role: fc.constantFrom("user", "assistant"),
  kind: fc.integer({ min: 0, max: KINDS - 1 }),
  parent: fc.nat(5),
});

for (const [id, write] of Object.entries(CORPUS)) {
  test(`${id}: nothing that had text disappears without being named`, () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (entries, size) => {
          const word = (index: number): string => `word-${index}-end`;
          const file = write(entries, word).map((value) => JSON.stringify(value));
          const bytes = Buffer.from(`${file.join("\n")}\n`);
          const stream = pieceStream();
          const pieces = [];
          for (let start = 0; start < bytes.length; start += size)
            pieces.push(...stream.push(bytes.subarray(start, start + size)));
          pieces.push(...stream.end());
          // One that nobody could know by its first entry is refused as a whole, with what it has.
          if (stream.format() === null && id !== CHECKPOINTS) return;
          assert.equal(stream.format()?.id ?? CHECKPOINTS, id);
          const kept = pieces
            .map((piece) => {
              if (piece.kind === "message") return piece.message.body;
              return piece.kind === "mark" ? JSON.stringify(piece.event) : "";
            })
            .join("\n");
          const named = pieces.filter(({ kind }) => kind === "left" || kind === "problem").length;
          const gone = entries.filter((_, index) => !kept.includes(word(index))).length;
          assert.ok(gone <= named, `${gone} gone, ${named} named`);
          if (id !== CHECKPOINTS) return;
          const threads = pieces.filter((piece) => piece.kind === "thread" && piece.fork === null);
          assert.ok(threads.length <= 1, "one thread");
        },
      ),
      { numRuns: 60 },
    );
  });
}
