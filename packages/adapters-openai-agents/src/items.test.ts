import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentInputItem } from "@openai/agents-core";
import { shapeOf } from "@palimpsest/core/internal/message";
import { fromResponsesItem, toResponsesItem } from "./items.ts";

const output = (given: unknown): AgentInputItem =>
  ({ type: "function_call_result", callId: "c", name: "look", status: "completed", output: given }) as AgentInputItem;

const ITEMS: Readonly<Record<string, unknown>> = {
  "a question in words": { role: "user", content: "How deep?" },
  "a question in blocks": {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "And here?", promptCacheBreakpoint: { mode: "explicit" } },
      { type: "input_image", image: "data:image/png;base64,iVBORw0K", detail: "low" },
      { type: "input_image", image: { id: "file-1" } },
      { type: "input_file", file: { url: "https://example.org/a.pdf" }, filename: "a.pdf" },
      { type: "input_file", file: { id: "file-2" } },
      { type: "input_file", file: "data:text/plain;base64,aGk=", filename: "b.txt" },
      { type: "audio", audio: { id: "a" }, format: "mp3" },
    ],
    providerData: { some: "thing" },
  },
  "a system message": { role: "system", content: "Be brief." },
  "an answer": {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    phase: "final_answer",
    content: [
      { type: "output_text", text: "Four fathoms.", providerData: { annotations: [] } },
      { type: "refusal", refusal: "no" },
    ],
  },
  "a call": {
    id: "fc_1",
    type: "function_call",
    callId: "c",
    name: "look",
    namespace: "n",
    status: "completed",
    arguments: "{}",
    caller: { type: "direct" },
  },
  "a result in words": output("four fathoms"),
  "a result that is a text": output({ type: "text", text: "four fathoms", providerData: { a: 1 } }),
  "a result in blocks": output([
    { type: "input_text", text: "four fathoms" },
    { type: "input_image", image: { id: "file-1" }, detail: "high" },
  ]),
  "a result of one block": output([{ type: "input_text", text: "four fathoms" }]),
  "an image by its address": output({ type: "image", image: "https://example.org/a.png", detail: "low" }),
  "an image that is a url": output({ type: "image", image: { url: "https://example.org/a.png" } }),
  "an image that is data": output({ type: "image", image: { data: "iVBORw0K", mediaType: "image/png" } }),
  "an image that is a data url": output({ type: "image", image: { data: "data:image/png;base64,iVBORw0K" } }),
  "an image in a file": output({ type: "image", image: { fileId: "file-1" } }),
  "no image": output({ type: "image" }),
  "a file that is data": output({
    type: "file",
    file: { data: "aGk=", mediaType: "text/plain", filename: "b.txt" },
    providerData: { a: 1 },
  }),
  "a file by its id": output({ type: "file", file: { id: "file-1", filename: "b.txt" } }),
  "a file by its address": output({ type: "file", file: { url: "https://example.org/b.txt" } }),
  "a thought": {
    id: "rs_1",
    type: "reasoning",
    content: [{ type: "input_text", text: "Deep." }],
    rawContent: [{ type: "reasoning_text", text: "Deep indeed." }],
    providerData: { encryptedContent: "sealed", other: 1 },
  },
  "a thought spelled otherwise": { type: "reasoning", content: [], providerData: { encrypted_content: "sealed" } },
  "a thought without proof": { type: "reasoning", content: [{ type: "input_text", text: "Deep." }] },
  "a hosted call": { type: "hosted_tool_call", id: "ws", name: "web_search_call", status: "completed", output: "x" },
  "a computer's call": { type: "computer_call", callId: "c", status: "completed", action: { type: "screenshot" } },
  "a computer's result": {
    type: "computer_call_result",
    callId: "c",
    output: { type: "computer_screenshot", data: "data:image/png;base64,iVBORw0K" },
  },
  "a shell's call": { type: "shell_call", callId: "c", action: { commands: ["ls"], timeoutMs: 5 } },
  "a shell's result": {
    type: "shell_call_output",
    callId: "c",
    output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
  },
  "a sealed compaction": { type: "compaction", encrypted_content: "sealed", created_by: "x" },
  "what nobody knows": { type: "unknown", providerData: { type: "new_thing", a: 1 } },
};

for (const [name, item] of Object.entries(ITEMS)) {
  test(`${name} comes back as it was given, and the log can read it`, () => {
    const stored = JSON.parse(JSON.stringify(toResponsesItem(item as AgentInputItem)));
    assert.deepEqual(fromResponsesItem(stored), item);
    assert.deepEqual(Object.keys(fromResponsesItem(stored)).sort(), Object.keys(item as object).sort());
    assert.ok(shapeOf("openai-responses").role(stored));
  });
}

test("calls, results, images and thoughts are known to the shape by what they are", () => {
  const shape = shapeOf("openai-responses");
  const kinds = (name: string) =>
    shape.parts(toResponsesItem(ITEMS[name] as AgentInputItem)).map((part) => [part.kind, "text" in part && part.text]);
  assert.deepEqual(kinds("a call"), [["call", false]]);
  assert.deepEqual(kinds("a result that is a text"), [["result", "four fathoms"]]);
  assert.deepEqual(kinds("a thought")[0]?.[0], "reasoning");
  const [picture] = shape.parts(toResponsesItem(ITEMS["an image that is data"] as AgentInputItem));
  assert.ok(picture?.kind === "result" && picture.images.length === 1);
  const [thought] = shape.parts(toResponsesItem(ITEMS["a thought spelled otherwise"] as AgentInputItem));
  assert.ok(thought?.kind === "reasoning" && thought.signature === "sealed");
});

test("what was shortened in the log comes back shortened, as an item that the SDK takes", () => {
  const shape = shapeOf("openai-responses");
  const short = (name: string) => {
    const item = toResponsesItem(ITEMS[name] as AgentInputItem);
    const [part] = shape.parts(item);
    const edited = shape.withPart(item, 0, { ...part!, text: "short" } as typeof part & object);
    return fromResponsesItem(edited as ReturnType<typeof toResponsesItem>);
  };
  assert.deepEqual(short("a result that is a text"), output("short"));
  assert.deepEqual((short("a thought") as { content: unknown }).content, [{ type: "input_text", text: "short" }]);
});
