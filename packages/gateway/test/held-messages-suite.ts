/** What Anthropic's own server would hold and compact, served from the log: with the official client, for any engine. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { createKey } from "palimpsest/internal/key-operations";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "./before-provider.ts";

type Message = Anthropic.Beta.BetaMessageParam;
type Params = Anthropic.Beta.MessageCreateParamsNonStreaming;

const LONG = "how deep is it there? ".repeat(40);
const user = (content: Message["content"]): Message => ({ role: "user", content: content as string });
const answered = ({ content }: Anthropic.Beta.BetaMessage): Message => ({ role: "assistant", content });
const edited = (id: string): string => `${id.slice(0, -1)}${id.endsWith("x") ? "y" : "x"}`;
const textIn = ({ content }: { readonly content: unknown }): string => JSON.stringify(content);

interface Kit {
  readonly served: BeforeProvider;
  readonly client: Anthropic;
  create(params: Partial<Params> & Pick<Params, "messages">, headers?: Record<string, string>): Promise<Answer>;
  /** Turns of which all is sent each time. */
  talk(turns: number, model?: string): Promise<Message[]>;
  said(thread: string, userId?: string): Promise<readonly string[]>;
}

interface Answer {
  readonly message: Anthropic.Beta.BetaMessage;
  readonly thread: string;
  readonly match: string | null;
}

/** `storeUrl`: a fresh store for each number; null: the home's own. */
export function heldMessagesSuite(engine: string, storeUrl: (number: number) => string | null): void {
  let databases = 0;
  const kitOf = async (t: TestContext, options: BeforeProviderOptions = {}): Promise<Kit> => {
    databases += 1;
    const address = storeUrl(databases);
    const store = address === null ? "" : `store: {url: ${JSON.stringify(address)}}\n`;
    const respond = ({ index }: { readonly index: number }) => `answer ${index}`;
    const served = await beforeProvider(t, { respond, ...options, config: store + (options.config ?? "") });
    return kit(served);
  };

  describe(`what Anthropic's server would hold, on ${engine}`, () => {
    for (const model of ["claude", "local"])
      test(`a thread goes on with only what is new, and keeps what it was created with, on ${model}`, async (t) => {
        const { create, served, said } = await kitOf(t);
        const system = [
          { type: "text" as const, text: "You sound the depth." },
          { type: "text" as const, text: "Briefly.", cache_control: { type: "ephemeral" as const } },
        ];
        const tools = [{ name: "sound", input_schema: { type: "object" as const, properties: {} } }];
        const first = await create({ model, system, tools, messages: [user("one")], thread: { type: "create" } });
        const goOn = { type: "continue" as const, previous_message_id: first.message.id };
        const second = await create({ model, messages: [user("two")], thread: goOn });
        assert.deepEqual([first.match, second.match, second.thread], ["new", "extended", first.thread]);
        const { body, turns } = served.provider.requests.at(-1)!;
        assert.deepEqual(turns.filter(({ role }) => role !== "system").length, 3);
        assert.ok(!("thread" in body!) && JSON.stringify(body).includes("You sound the depth."));
        if (model === "claude") assert.deepEqual([body!["system"], body!["tools"]], [system, tools]);
        assert.deepEqual(served.provider.requests.at(-1)!.tools, ["sound"]);
        assert.deepEqual((await said(first.thread)).length, 4);
      });

    test("going on twice from one answer is a fork, also at once; both futures stay", async (t) => {
      const { create, said, served } = await kitOf(t);
      const system = ["Be brief.", "Be kind."].map((text) => ({ type: "text" as const, text }));
      const first = await create({ system, messages: [user("one")], thread: { type: "create" } });
      const thread = { type: "continue" as const, previous_message_id: first.message.id };
      const [two, other] = await Promise.all(
        ["two", "other"].map((text) => create({ messages: [user(text)], thread })),
      );
      const third = await create({ messages: [user("third")], thread });
      assert.deepEqual([two!.match, other!.match, third.match].toSorted(), ["extended", "forked", "forked"]);
      for (const { thread: id } of [two!, other!, third]) assert.equal((await said(id)).length, 4);
      const on = await create({
        messages: [user("on")],
        thread: { type: "continue", previous_message_id: third.message.id },
      });
      assert.deepEqual([on.thread, (await said(on.thread)).length], [third.thread, 6]);
      assert.deepEqual(served.provider.requests.at(-1)!.body!["system"], system, "in the blocks that it came in");
    });

    test("a second user's id, an edited one and one of a deleted thread are not found, and the log is unharmed", async (t) => {
      const { create, served, said } = await kitOf(t);
      const { keys } = served.home.store;
      const keyOf = async (name: string) =>
        (await createKey(keys!, { user: name, role: "user", expiresAt: null }, new Date())).key;
      const [ada, bob] = [await keyOf("ada"), await keyOf("bob")].map((key) => ({ authorization: `Bearer ${key}` }));
      const first = await create({ messages: [user("one")], thread: { type: "create" } }, ada);
      const goOn = (id: string, headers = ada) =>
        create({ messages: [user("two")], thread: { type: "continue", previous_message_id: id } }, headers);
      const notFound = Anthropic.ThreadNotFoundError;
      await assert.rejects(goOn(first.message.id, bob), notFound);
      await assert.rejects(goOn(edited(first.message.id)), notFound);
      await assert.rejects(goOn("msg_01XFDUDYJgAACzvnptvVoYEL"), notFound);
      assert.equal((await said(first.thread, "ada")).length, 2);
      await served.home.store.forUser("ada").deleteThread(first.thread);
      await assert.rejects(goOn(first.message.id), notFound);
      await assert.rejects(
        create({ messages: [user("x")], thread: { type: "create" } }, { authorization: "Bearer no" }),
      );
    });

    test("a short question in a session that has a thread is no side call where it asks to be held", async (t) => {
      const { create, talk } = await kitOf(t);
      const headers = { "x-session-id": "s1" };
      await create({ messages: [user("The main conversation.")] }, headers);
      const first = await create({ messages: [user("one")], thread: { type: "create" } }, headers);
      const thread = { type: "continue" as const, previous_message_id: first.message.id };
      assert.equal((await create({ messages: [user("two")], thread }, headers)).match, "extended");
      const history = (await talk(1)).slice(0, 1);
      const summarized = await create({ messages: history, compaction: { type: "summarize" } }, headers);
      assert.equal(summarized.message.stop_reason, "compaction");
    });

    test("tools that changed under a thread's id are refused, the same ones are taken", async (t) => {
      const { create } = await kitOf(t);
      const tools = [{ name: "sound", input_schema: { type: "object" as const, properties: {} } }];
      const first = await create({ tools, system: "Be brief.", messages: [user("one")], thread: { type: "create" } });
      const thread = { type: "continue" as const, previous_message_id: first.message.id };
      const other = [{ ...tools[0]!, name: "dredge" }];
      const mismatch = Anthropic.ThreadFingerprintMismatchError;
      await assert.rejects(create({ tools: other, messages: [user("two")], thread }), mismatch);
      await assert.rejects(create({ system: "Be long.", messages: [user("two")], thread }), mismatch);
      assert.equal((await create({ tools, messages: [user("two")], thread })).match, "extended");
    });

    test("a conversation is summarized into one signed block, and goes on from it without losing anything", async (t) => {
      const { create, talk, said, served } = await kitOf(t, { window: 16_000 });
      const history = await talk(8);
      const summarized = await create({ messages: history, compaction: { type: "summarize" } });
      const [block] = summarized.message.content;
      assert.deepEqual([summarized.message.stop_reason, summarized.message.content.length], ["compaction", 1]);
      assert.ok(block?.type === "compaction" && block.content!.includes("answer 7") && block.signature != null);
      const asked = served.provider.requests.length;
      const next = await create({ messages: [answered(summarized.message), user("next")] });
      assert.deepEqual([next.match, next.thread], ["extended", summarized.thread]);
      assert.equal((await said(next.thread)).length, 18, "all that was ever said is there");
      assert.equal(served.provider.requests.length, asked + 1, "a summary by rules asks nobody");
      const sent = served.provider.requests.at(-1)!;
      assert.ok(sent.turns.length < 18 && !JSON.stringify(sent.body).includes('"compaction"'));
      const later = await create({
        messages: [answered(summarized.message), user("next"), answered(next.message), user("later")],
      });
      assert.deepEqual([later.match, (await said(later.thread)).length], ["extended", 20]);
      assert.equal((await verify(served.home, later.thread)).kind, "whole");
    });

    test("the runner's own compaction between two turns, on a thread", async (t) => {
      const { client, served } = await kitOf(t, {
        respond: ({ index, turns }) =>
          index < 3 && turns.at(-1)?.role !== "assistant"
            ? { text: "I'll look.", calls: [{ id: `c${index}`, name: "sound", input: {} }] }
            : "done",
      });
      const tool = {
        name: "sound",
        input_schema: { type: "object" as const, properties: {} },
        parse: (input: unknown) => input,
        run: async () => LONG,
      };
      const runner = client.beta.messages.toolRunner({
        model: "claude",
        max_tokens: 100,
        messages: [user("Sound it three times.") as never],
        tools: [tool],
      });
      const stops: unknown[] = [];
      for await (const message of runner) {
        stops.push(message.stop_reason);
        if (stops.length === 2) runner.compactBeforeNextTurn();
      }
      assert.deepEqual(stops, ["tool_use", "tool_use", "compaction", "tool_use", "end_turn"]);
      assert.deepEqual(new Set(served.provider.requests.map(({ verdict }) => verdict.kind)), new Set(["answered"]));
    });

    test("at the client's own trigger the answer begins with a block, streamed or not, and the history may stop there", async (t) => {
      const { create, talk, client, served, said } = await kitOf(t, { window: 16_000 });
      const history = await talk(8);
      const edits = [{ type: "compact_20260112" as const, trigger: { type: "input_tokens" as const, value: 500 } }];
      const params = { model: "claude", max_tokens: 100, context_management: { edits } };
      const asked = [...history, user("now")];
      const message = await client.beta.messages.stream({ ...params, messages: asked as never }).finalMessage();
      assert.deepEqual(
        message.content.map(({ type }) => type),
        ["compaction", "text"],
      );
      assert.deepEqual(message.context_management, { applied_edits: [] });
      assert.ok(!("context_management" in served.provider.requests.at(-1)!.body!));
      const next = await create({ ...params, messages: [answered(message), user("next")] });
      const whole = await create({ ...params, messages: [...asked, answered(message), user("again")] });
      assert.deepEqual([next.match, whole.match], ["extended", "forked"]);
      assert.equal((await said(next.thread)).length, 20);
    });

    test("a pause after the compaction hands the turn back, with a thread and without", async (t) => {
      const { create, talk, said } = await kitOf(t, { window: 16_000 });
      const history = await talk(8);
      const edits = [
        {
          type: "compact_20260112" as const,
          trigger: { type: "input_tokens" as const, value: 500 },
          pause_after_compaction: true,
        },
      ];
      const context_management = { edits };
      const asked = [...history, user("now")];
      const paused = await create({ messages: asked, context_management, thread: { type: "create" } });
      assert.deepEqual([paused.message.stop_reason, paused.message.content.length], ["compaction", 1]);
      const thread = { type: "continue" as const, previous_message_id: paused.message.id };
      const resumed = await create({ messages: [], thread });
      assert.deepEqual([resumed.match, resumed.message.stop_reason], ["extended", "end_turn"]);
      const again = await create({ messages: [...asked, answered(paused.message)] });
      assert.deepEqual([again.match, again.message.stop_reason], ["forked", "end_turn"]);
      assert.equal((await said(again.thread)).length, 18);
    });

    test("old tool results are cleared from the prompt and stay in the log", async (t) => {
      const { create, said, served } = await kitOf(t, { window: 16_000 });
      const messages: Message[] = [user("Look.")];
      for (let index = 0; index < 5; index += 1)
        messages.push(
          { role: "assistant", content: [{ type: "tool_use", id: `c${index}`, name: "sound", input: { at: LONG } }] },
          user([{ type: "tool_result", tool_use_id: `c${index}`, content: `result ${index}: ${LONG}` }]),
        );
      const edits = [
        {
          type: "clear_tool_uses_20250919" as const,
          trigger: { type: "tool_uses" as const, value: 3 },
          keep: { type: "tool_uses" as const, value: 2 },
          clear_tool_inputs: true,
        },
      ];
      const context_management = { edits };
      const tools = [{ name: "sound", input_schema: { type: "object" as const, properties: {} } }];
      const first = await create({ messages, tools, context_management });
      const [applied] = first.message.context_management!.applied_edits;
      assert.ok(applied?.type === "clear_tool_uses_20250919" && applied.cleared_tool_uses === 3);
      assert.ok(applied.cleared_input_tokens > 500);
      const sent = JSON.stringify(served.provider.requests.at(-1)!.body);
      assert.deepEqual(
        [0, 1, 2, 3, 4].map((index) => sent.includes(`result ${index}:`)),
        [false, false, false, true, true],
      );
      assert.equal((await said(first.thread)).filter((text) => text.includes("result ")).length, 5);
      const second = await create({
        messages: [...messages, answered(first.message), user("And now?")],
        tools,
        context_management,
      });
      assert.deepEqual(second.message.context_management, { applied_edits: [] }, "nothing more to clear");
      assert.ok(!JSON.stringify(served.provider.requests.at(-1)!.body).includes("result 1:"));
    });

    test("another user's block and one of a deleted thread are refused", async (t) => {
      const { create, talk, served } = await kitOf(t);
      const history = await talk(2);
      const { message, thread } = await create({ messages: history, compaction: { type: "summarize" } });
      const messages = [answered(message), user("next")];
      const invalid = Anthropic.CompactionSignatureInvalidError;
      assert.equal((await create({ messages })).match, "extended");
      await served.home.store.deleteThread(thread);
      await assert.rejects(create({ messages }), invalid);
      const mine = await create({ messages: history, compaction: { type: "summarize" } });
      const bobs = { user: "bob", role: "user", expiresAt: null } as const;
      const { key } = await createKey(served.home.store.keys!, bobs, new Date());
      const theirs = { messages: [answered(mine.message), user("next")] };
      await assert.rejects(create(theirs, { authorization: `Bearer ${key}` }), invalid);
    });
  });
}

function kit(served: BeforeProvider): Kit {
  const client = new Anthropic({ apiKey: "client", baseURL: served.url, maxRetries: 0 });
  const create: Kit["create"] = async (params, headers = {}) => {
    const { data, response } = await client.beta.messages
      .create({ model: "claude", max_tokens: 100, ...params }, { headers })
      .withResponse();
    const thread = response.headers.get("x-palimpsest-thread") ?? "";
    return { message: data, thread, match: response.headers.get("x-palimpsest-match") };
  };
  return {
    served,
    client,
    create,
    async talk(turns, model = "claude") {
      const messages: Message[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        messages.push(user(`Question ${turn}: ${LONG}`));
        messages.push(answered((await create({ model, messages })).message));
      }
      return messages;
    },
    async said(thread, userId = "default") {
      const texts: string[] = [];
      const deps = { ...served.home, store: served.home.store.forUser(userId) };
      for await (const { body } of replay(deps, thread)) texts.push(textIn(JSON.parse(body)));
      return texts;
    },
  };
}
