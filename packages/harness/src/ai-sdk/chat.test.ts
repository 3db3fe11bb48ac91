import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AbstractChat, jsonSchema, stepCountIs, streamText, tool, type UIMessage } from "ai";
import { plainState } from "../../test/agent/chat.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { type Script, scriptedModel } from "../testing/scripted-model.ts";
import { type ChatRequest, chatMessages, openChat } from "./chat.ts";
import { lastMessageTransport } from "./transport.ts";

/** What `useChat` is made of, with its state in plain fields. */
class Chat extends AbstractChat<UIMessage> {
  constructor(handler: (request: Request) => Promise<Response>, messages: UIMessage[] = []) {
    const transport = lastMessageTransport({
      api: "http://server/api/chat",
      fetch: async (url, init) => handler(new Request(url as string, init as RequestInit)),
    });
    super({ id: "chat", state: plainState(messages), transport });
  }

  texts(): string[] {
    return this.messages.map(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    );
  }
}

const sound = tool({
  inputSchema: jsonSchema<Record<string, never>>({ type: "object", properties: {} }),
  execute: () => "four fathoms",
});

function served(t: TestContext, script: Script) {
  const store: Store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const model = scriptedModel(script);
  const bodies: ChatRequest[] = [];
  const handler = async (request: Request): Promise<Response> => {
    const body = (await request.json()) as ChatRequest;
    bodies.push(body);
    const chat = await openChat(body, { store, window: 8_000 });
    return chat.respond(streamText({ model, tools: { sound }, stopWhen: stepCountIs(5), ...chat.settings }));
  };
  return { store, model, bodies, handler };
}

const rolesSent = (model: ReturnType<typeof scriptedModel>, call: number) =>
  model.calls.at(call)!.prompt.map(({ role }) => role);

test("a chat sends only its last message, the model is sent the thread, and a page that is loaded again shows the same", async (t) => {
  const { store, model, bodies, handler } = served(t, [
    { calls: [{ name: "sound", input: {} }] },
    "Four fathoms.",
    "Yes, sand.",
  ]);
  const chat = new Chat(handler);
  await chat.sendMessage({ text: "How deep?" });
  await chat.sendMessage({ text: "Can we anchor?" });
  assert.deepEqual(chat.texts(), ["How deep?", "Four fathoms.", "Can we anchor?", "Yes, sand."]);
  assert.deepEqual(
    bodies.map(({ messages }) => messages.length),
    [1, 1],
  );
  assert.deepEqual(rolesSent(model, -1), ["user", "assistant", "tool", "assistant", "user"]);
  const again = await chatMessages("chat", { store });
  assert.deepEqual(
    again.map(({ id, role }) => [id, role]),
    chat.messages.map(({ id, role }) => [id, role]),
  );
});

test("an answer asked for again and a message said anew are forks under the same chat", async (t) => {
  const { store, model, handler } = served(t, ["one", "two", "three", "four"]);
  const chat = new Chat(handler);
  await chat.sendMessage({ text: "How deep?" });
  await chat.regenerate();
  assert.deepEqual(chat.texts(), ["How deep?", "two"]);
  assert.deepEqual(rolesSent(model, -1), ["user"]);
  await chat.sendMessage({ text: "And there?", messageId: chat.messages[0]!.id });
  assert.deepEqual(chat.texts(), ["And there?", "three"]);
  assert.deepEqual(rolesSent(model, -1), ["user"]);
  await chat.sendMessage({ text: "Thanks." });
  assert.deepEqual(rolesSent(model, -1), ["user", "assistant", "user"]);
  const again = await chatMessages("chat", { store });
  assert.deepEqual(
    again.map(({ id }) => id),
    chat.messages.map(({ id }) => id),
  );
  const { threads } = await store.threads();
  assert.equal(threads.length, 3, "nothing was overwritten");
});

test("the same request twice, as after a broken connection, says its message once", async (t) => {
  const { store, bodies, handler } = served(t, ["one", "two"]);
  const chat = new Chat(handler);
  await chat.sendMessage({ text: "How deep?" });
  const body = JSON.stringify(bodies[0]);
  await (await handler(new Request("http://server/api/chat", { method: "POST", body }))).text();
  const again = await chatMessages("chat", { store });
  assert.equal(again.filter(({ role }) => role === "user").length, 1);
});

test("a page that goes away: the answer is finished, and there when it comes back", async (t) => {
  const { store, handler } = served(t, ["Four fathoms."]);
  const message = { id: "m", role: "user", parts: [{ type: "text", text: "How deep?" }] };
  const body = JSON.stringify({ id: "chat", messages: [message], trigger: "submit-message" });
  const response = await handler(new Request("http://server/api/chat", { method: "POST", body }));
  await response.body!.cancel();
  while ((await chatMessages("chat", { store })).length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await chatMessages("chat", { store })).at(-1)?.role, "assistant");
});

test("what can't be said is refused before anything is written", async (t) => {
  const { store } = served(t, []);
  await assert.rejects(openChat({ id: "chat", messages: [] }, { store, window: 8_000 }), /nothing was sent/);
  assert.deepEqual(await chatMessages("chat", { store }), []);
});
