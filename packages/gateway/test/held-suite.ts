/** Conversations that a client leaves to the server, by OpenAI's own client: what it names, and what is in the log. For any engine. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import OpenAI from "openai";
import { replay } from "palimpsest/internal/threads";
import { redact, verify } from "palimpsest/session";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "./before-provider.ts";

interface Talk {
  readonly served: BeforeProvider;
  readonly client: OpenAI;
  /** What was said in the thread of the last answer. */
  said(threadId: string): Promise<readonly string[]>;
}

const SECRET = "The treasure lies under the third palm tree of the northern bay.";

/** `storeUrl`: a fresh store for each number; null: the home's own. */
export function heldSuite(engine: string, storeUrl: (number: number) => string | null): void {
  describe(`conversations that are held here, on ${engine}`, () => {
    let databases = 0;
    async function talk(t: TestContext, options: BeforeProviderOptions = {}): Promise<Talk> {
      databases += 1;
      const address = storeUrl(databases);
      const config = (address === null ? "" : `store: {url: ${JSON.stringify(address)}}\n`) + (options.config ?? "");
      const served = await beforeProvider(t, { respond: ({ index }) => `answer ${index}`, ...options, config });
      return {
        served,
        client: openaiAt(served.url),
        async said(threadId) {
          const texts: string[] = [];
          for await (const { body } of replay(served.home, threadId)) texts.push(...textsIn(JSON.parse(body)));
          return texts;
        },
      };
    }

    test("a response is continued by its id, with any vendor's model, and the provider gets all of it", async (t) => {
      const { client, served } = await talk(t, { respond: ({ turns }) => `heard ${turns.length}` });
      for (const model of ["gpt", "claude", "local"]) {
        let previous: string | null = null;
        for (const turn of [0, 1, 2]) {
          const input = `question ${turn} for ${model}`;
          const answer: OpenAI.Responses.Response = await client.responses.create(asked(model, input, previous));
          assert.deepEqual([answer.output_text, answer.previous_response_id], [`heard ${2 * turn + 1}`, previous]);
          const { id, status, output } = await client.responses.retrieve(answer.id);
          assert.deepEqual([id, status, output], [answer.id, "completed", answer.output]);
          previous = answer.id;
        }
        assert.deepEqual(
          await inputOf(client, previous!),
          [0, 1].flatMap((n) => [`question ${n} for ${model}`, `heard ${2 * n + 1}`]).concat(`question 2 for ${model}`),
        );
      }
      assert.ok(served.provider.requests.every(({ verdict }) => verdict.kind === "answered"));
      assert.equal((await served.home.store.threads()).threads.length, 3);
    });

    test("a response says which instructions and tools it was asked with, each its own, as long as they aren't erased", async (t) => {
      const { client, served } = await talk(t);
      const tool = (name: string): OpenAI.Responses.FunctionTool => ({
        type: "function",
        name,
        parameters: { type: "object", properties: {} },
        strict: null,
      });
      const requests = [
        { instructions: "You sail.", tools: [tool("tack"), tool("reef")] },
        { instructions: `You row. ${SECRET}`, tools: [tool("pull")] },
        { tools: [] },
      ];
      const told = { role: "system", content: "Beside the instructions." } as const;
      const ids: string[] = [];
      for (const request of requests) {
        const question = { role: "user", content: ids.length === 1 ? SECRET : "?" } as const;
        const input = ids.length === 0 ? [told, question] : [question];
        const { id } = await client.responses.create({ ...asked("claude", "", ids.at(-1) ?? null), ...request, input });
        ids.push(id);
      }
      for (const [index, { instructions = null, tools }] of requests.entries()) {
        const response = await client.responses.retrieve(ids[index]!);
        assert.deepEqual([response.instructions, response.tools], [instructions, tools]);
      }
      const { header } = (await served.home.store.threads()).threads[0]!;
      for await (const { seq, body } of replay(served.home, header.id))
        if (body.includes(SECRET)) await redact(served.home, header.id, seq);
      const erased = await client.responses.retrieve(ids[1]!);
      assert.deepEqual([erased.instructions, erased.tools], [null, []]);
    });

    test("going on twice from one response is a fork, both futures stay, and a client that sends all of it again is known", async (t) => {
      const { client, served } = await talk(t);
      const first = await client.responses.create({ model: "gpt", input: "begin" });
      const go = (input: string) =>
        client.responses.stream({ model: "gpt", input, previous_response_id: first.id }).finalResponse();
      const [left, right] = [await go("left"), await go("right")];
      const last = await client.responses.create(asked("gpt", "and?", left.id));
      assert.deepEqual(await inputOf(client, last.id), ["begin", "answer 0", "left", "answer 1", "and?"]);
      assert.deepEqual(await inputOf(client, right.id), ["begin", "answer 0", "right"]);
      const { response } = await client.responses
        .create({
          model: "gpt",
          input: [
            ...["begin", "left", "and?"].flatMap((content, index): OpenAI.Responses.ResponseInputItem[] => [
              { role: "user", content },
              { role: "assistant", content: `answer ${[0, 1, 3][index]}` },
            ]),
            { role: "user", content: "all of it" },
          ],
        })
        .withResponse();
      assert.equal(response.headers.get("x-palimpsest-match"), "extended");
      assert.equal((await served.home.store.threads()).threads.length, 2);
    });

    test("a conversation is made, filled, gone on in, listed, changed and deleted, and then nothing of it is found", async (t) => {
      const { client, served } = await talk(t, { respond: ({ turns }) => `heard ${turns.length}` });
      const made = await client.conversations.create({
        metadata: { topic: "depth" },
        items: [{ role: "user", content: "I sail." }],
      });
      const answer = await client.responses.create({ model: "gpt", input: "How deep?", conversation: made.id });
      assert.equal(answer.output_text, "heard 2");
      assert.deepEqual(answer.conversation, { id: made.id });
      const second = await client.responses.create({
        model: "claude",
        input: "And now?",
        conversation: { id: made.id },
      });
      assert.equal(second.output_text, "heard 3");
      const [added] = (await client.conversations.items.create(made.id, { items: [{ role: "user", content: "Aye." }] }))
        .data;
      const texts = async () => listed(client.conversations.items.list(made.id, { order: "asc", limit: 2 }));
      const said = ["I sail.", "How deep?", "heard 2", "And now?", "heard 3"];
      assert.deepEqual(await texts(), [...said, "Aye."]);
      const found = await client.conversations.items.retrieve(added!.id!, { conversation_id: made.id });
      assert.deepEqual(found, added);
      await client.conversations.items.delete(added!.id!, { conversation_id: made.id });
      assert.deepEqual(await texts(), said);
      const middle = (await client.conversations.items.list(made.id, { order: "asc" })).data[1]!;
      await client.conversations.items.delete(middle.id!, { conversation_id: made.id });
      assert.deepEqual(
        await texts(),
        said.filter((text) => text !== "How deep?"),
      );
      await client.responses.create({ model: "gpt", input: "Still there?", conversation: made.id });
      assert.deepEqual((await texts()).slice(-2), ["Still there?", "heard 5"]);
      assert.deepEqual((await client.conversations.update(made.id, { metadata: { topic: "wind" } })).metadata, {
        topic: "wind",
      });
      assert.deepEqual((await client.conversations.retrieve(made.id)).metadata, { topic: "wind" });
      assert.equal((await client.conversations.delete(made.id)).deleted, true);
      await refused(client.conversations.retrieve(made.id), 404, "not_found");
      await refused(client.responses.retrieve(answer.id), 404, "not_found");
      await refused(client.responses.create(asked("gpt", "x", second.id)), 400, "previous_response_not_found");
      assert.deepEqual((await served.home.store.threads()).threads, []);
    });

    test("what isn't stored can't be asked for or gone on from, and is in the log all the same", async (t) => {
      const { client, served } = await talk(t);
      const answer = await client.responses.create({ model: "claude", input: "secret?", store: false });
      await refused(client.responses.retrieve(answer.id), 404, "not_found");
      await refused(client.responses.create(asked("claude", "x", answer.id)), 400, "previous_response_not_found");
      assert.equal((await served.home.store.threads()).threads[0]!.messages, 2);
    });

    test("a deleted response is gone for who asks, and its words stay in the log; so are those of a deleted thread", async (t) => {
      const { client, served, said } = await talk(t);
      const { data, response } = await client.responses.create({ model: "gpt", input: "one" }).withResponse();
      const next = await client.responses.create(asked("gpt", "two", data.id));
      assert.deepEqual(await client.responses.delete(data.id), { id: data.id, object: "response", deleted: true });
      await refused(client.responses.retrieve(data.id), 404, "not_found");
      await refused(client.responses.inputItems.list(data.id), 404, "not_found");
      await refused(client.responses.delete(data.id), 404, "not_found");
      await refused(client.responses.create(asked("gpt", "x", data.id)), 400, "previous_response_not_found");
      const threadId = response.headers.get("x-palimpsest-thread")!;
      assert.deepEqual(await said(threadId), ["one", "answer 0", "two", "answer 1"]);
      assert.equal((await verify(served.home, threadId)).kind, "whole");
      assert.equal((await client.responses.retrieve(next.id)).output_text, "answer 1");
      await served.home.store.deleteThread(threadId);
      await refused(client.responses.retrieve(next.id), 404, "not_found");
      await refused(client.responses.create(asked("gpt", "x", next.id)), 400, "previous_response_not_found");
    });

    for (const model of ["gpt", "claude"])
      test(`a compaction goes both ways on ${model}: in an answer, asked for alone and as a route; a client that sends the item back loses nothing`, async (t) => {
        const { client, served } = await talk(t, { window: 16_000, respond: ({ turns }) => `heard ${turns.length}` });
        let previous: string | null = null;
        for (let turn = 1; turn <= 12; turn += 1) {
          const input = `question ${turn} ${"is it deep there? ".repeat(20)}`;
          const answer: OpenAI.Responses.Response = await client.responses.create(asked(model, input, previous));
          previous = answer.id;
        }
        const inAnswer = await client.responses
          .stream({
            ...asked(model, "and now?", previous),
            stream: true,
            context_management: [{ type: "compaction", compact_threshold: 500 }],
          })
          .finalResponse();
        const [item, ...rest] = inAnswer.output;
        assert.equal(item!.type, "compaction");
        assert.match((item as OpenAI.Responses.ResponseCompactionItem).encrypted_content, /question 1/);
        assert.equal(rest.length, 1);
        assert.deepEqual((await client.responses.retrieve(inAnswer.id)).output[0], item);
        const alone = await client.responses
          .stream({ ...asked(model, null, inAnswer.id), stream: true, input: [{ type: "compaction_trigger" }] })
          .finalResponse();
        const route = await client.responses.compact({ model, previous_response_id: inAnswer.id });
        assert.deepEqual(
          alone.output.map(({ type }) => type),
          ["compaction"],
        );
        assert.equal(route.output.at(-1)!.type, "compaction");
        const before = (await inputOf(client, inAnswer.id)).concat(inAnswer.output_text);
        for (const output of [inAnswer.output, alone.output, route.output]) {
          const input = [
            ...(output as OpenAI.Responses.ResponseInputItem[]),
            { role: "user" as const, content: "go on" },
          ];
          const gone = await client.responses.create({ model, input });
          assert.deepEqual(await inputOf(client, gone.id), [...before, "go on"]);
          const items = [
            ...input,
            ...(gone.output as OpenAI.Responses.ResponseInputItem[]),
            { role: "user" as const, content: "further" },
          ];
          const { data, response } = await client.responses.create({ model, input: items }).withResponse();
          assert.equal(response.headers.get("x-palimpsest-match"), "extended");
          assert.deepEqual((await inputOf(client, data.id)).slice(0, -3), before);
        }
        const gone = await client.responses.create(asked(model, "from the compaction's own id", route.id));
        assert.deepEqual((await inputOf(client, gone.id)).slice(0, -1), before);
        assert.ok(served.provider.requests.every(({ verdict }) => verdict.kind === "answered"));
      });
  });
}

export const openaiAt = (url: string, apiKey = "any", asking: typeof fetch = fetch): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, fetch: asking });

function asked(model: string, input: string | null, previous: string | null) {
  return {
    model,
    ...(input !== null && { input }),
    previous_response_id: previous,
  } satisfies OpenAI.Responses.ResponseCreateParams;
}

export async function refused(work: Promise<unknown>, status: number, code: string): Promise<void> {
  await assert.rejects(work, (error: InstanceType<typeof OpenAI.APIError>) => {
    assert.deepEqual([error.status, error.code], [status, code], error.message);
    return true;
  });
}

/** All that the response was an answer to, from the first word on. */
export async function inputOf(client: OpenAI, id: string): Promise<readonly string[]> {
  return listed(client.responses.inputItems.list(id, { order: "asc" }));
}

async function listed(items: AsyncIterable<unknown>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const item of items) texts.push(...textsIn(item));
  return texts;
}

function textsIn(message: unknown): string[] {
  return [message].flat().flatMap((item) => {
    const { content } = item as { content?: string | { text: string }[] };
    return typeof content === "string" ? [content] : (content ?? []).map(({ text }) => text);
  });
}
