import assert from "node:assert/strict";
import { test } from "node:test";
import { isToolUIPart, readUIMessageStream, tool, type UIMessage, validateUIMessages } from "ai";
import { z } from "zod";
import { agentKit } from "../../../test/agent/agent-kit.ts";

const add = tool({ inputSchema: z.object({ a: z.number() }), execute: ({ a }) => ({ sum: a + 1 }) });
const fail = tool({
  inputSchema: z.object({}),
  execute: (): string => {
    throw new Error("no");
  },
});
const pay = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "paid" });
const calls = [
  { id: "c1", name: "add", input: { a: 1 } },
  { id: "c2", name: "fail", input: {} },
];

test("a thread read back is what its streams have shown, and what useChat takes", async (t) => {
  const kit = agentKit([{ text: "Adding.", reasoning: "hm", calls }, "It is 2.", "Bye."], { tools: { add, fail } });
  t.after(() => kit.store.close());
  const shown: UIMessage[] = [];
  for (const prompt of ["1 + 1?", "thanks"]) {
    const stream = kit.agent.stream({ threadId: "t", prompt }).toUIMessageStream();
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) last = message;
    shown.push(last!);
  }
  const messages = await kit.agent.messages("t");
  await validateUIMessages({ messages });
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "user", "assistant"],
  );
  const plain = (message: UIMessage) => JSON.parse(JSON.stringify(message));
  assert.deepEqual(messages.filter(({ role }) => role === "assistant").map(plain), shown.map(bare).map(plain));
  assert.deepEqual(messages[0]!.parts, [{ type: "text", text: "1 + 1?", state: "done" }]);
});

/** Without what only the stream knows. */
function bare({ id, role, parts }: UIMessage): UIMessage {
  const pieces = parts.map((part) => {
    if (part.type !== "reasoning") return part;
    const { id: _, ...reasoning } = part as { id?: string } & typeof part;
    return reasoning;
  });
  return { id, role, parts: pieces };
}

test("calls that wait, were refused or never answered are shown as such; another's thread is empty", async (t) => {
  const kit = agentKit([{ calls: [{ id: "c1", name: "pay", input: {} }] }, "As you like."], { tools: { pay } });
  t.after(() => kit.store.close());
  const states = async () => {
    const messages = await kit.agent.messages("t");
    return messages.flatMap(({ parts }) => parts.filter(isToolUIPart)).map(({ state }) => state);
  };
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  assert.deepEqual(await states(), ["approval-requested"]);
  await kit.agent.thread("t").approve("c1", "no", "too much");
  assert.deepEqual(await states(), ["approval-responded"]);
  await kit.agent.generate({ threadId: "t" });
  assert.deepEqual(await states(), ["output-denied"]);
  await validateUIMessages({ messages: await kit.agent.messages("t") });
  assert.deepEqual(await kit.agent.messages("t", { userId: "bob" }), []);
});

test("an attached file keeps its name, whatever its type", async (t) => {
  const kit = agentKit(["Seen."]);
  t.after(() => kit.store.close());
  const files = [
    { type: "file" as const, mediaType: "image/png", filename: "a.png", url: "data:image/png;base64,aGk=" },
    { type: "file" as const, mediaType: "text/plain", filename: "b.txt", url: "data:text/plain;base64,aGk=" },
  ];
  await kit.agent.generate({ threadId: "t", uiMessages: [{ id: "m", role: "user", parts: files }] });
  assert.deepEqual((await kit.agent.messages("t"))[0]!.parts, files);
});
