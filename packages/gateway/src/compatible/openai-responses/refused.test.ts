// What a client is told, in OpenAI's codes, of what it can't have: wrong, edited, gone, or another user's.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type OpenAI from "openai";
import { createKey } from "palimpsest/internal/key-operations";
import { beforeProvider } from "../../../test/before-provider.ts";
import { inputOf, openaiAt, refused } from "../../../test/held-suite.ts";

type Item = OpenAI.Responses.ResponseInputItem;
type Asking = Record<string, unknown>;

/** Two users before a strict provider, and what the first of them has. */
async function two(t: TestContext) {
  const served = await beforeProvider(t, { respond: ({ index }) => `answer ${index}` });
  const keys = served.home.store.keys!;
  const keyOf = async (userId: string) =>
    (await createKey(keys, { user: userId, role: "user", expiresAt: null }, new Date())).key;
  const [ada, bob] = [openaiAt(served.url, await keyOf("ada")), openaiAt(served.url, await keyOf("bob"))];
  const response = await ada.responses.create({ model: "gpt", input: "mine" });
  const conversation = await ada.conversations.create({ items: [{ role: "user", content: "mine too" }] });
  const item = (await ada.conversations.items.list(conversation.id)).data[0]!;
  const compacted = await ada.responses.compact({ model: "gpt", previous_response_id: response.id });
  return {
    served,
    ada,
    bob,
    response,
    conversation,
    item,
    compaction: compacted.output.at(-1) as Item,
  };
}

test("every route finds nothing for a second user's key, and leaves the first user's as it was", async (t) => {
  const { ada, bob, response, conversation, item, compaction } = await two(t);
  const [id, within] = [response.id, { conversation_id: conversation.id }];
  for (const work of [
    () => bob.responses.retrieve(id),
    () => bob.responses.retrieve(id, { stream: true }),
    () => bob.responses.delete(id),
    () => bob.responses.cancel(id),
    () => bob.responses.inputItems.list(id),
    () => bob.conversations.retrieve(conversation.id),
    () => bob.conversations.update(conversation.id, { metadata: {} }),
    () => bob.conversations.delete(conversation.id),
    () => bob.conversations.items.list(conversation.id),
    () => bob.conversations.items.create(conversation.id, { items: [{ role: "user", content: "x" }] }),
    () => bob.conversations.items.retrieve(item.id!, within),
    () => bob.conversations.items.delete(item.id!, within),
    () => bob.responses.create({ model: "gpt", input: "x", conversation: conversation.id }),
  ])
    await refused(Promise.resolve(work()), 404, "not_found");
  const asked = { model: "gpt", input: "x", previous_response_id: id };
  await refused(bob.responses.create(asked), 400, "previous_response_not_found");
  await refused(bob.responses.compact({ model: "gpt", previous_response_id: id }), 400, "previous_response_not_found");
  const input: Item[] = [compaction, { role: "user", content: "x" }];
  await refused(bob.responses.create({ model: "gpt", input }), 400, "invalid_encrypted_content");
  assert.equal((await ada.responses.retrieve(id)).output_text, "answer 0");
  assert.deepEqual(await inputOf(ada, (await ada.responses.create({ ...asked, input: "on" })).id), [
    "mine",
    "answer 0",
    "on",
  ]);
  assert.equal((await ada.conversations.items.list(conversation.id)).data.length, 1);
});

test("each thing that is wrong with a request has OpenAI's code and the parameter it is about", async (t) => {
  const { ada, served, response, compaction } = await two(t);
  const { id } = response;
  const made = await ada.conversations.create({});
  const edited = {
    ...compaction,
    encrypted_content: `${(compaction as { encrypted_content: string }).encrypted_content}!`,
  };
  const question: Item = { role: "user", content: "x" };
  const before = served.provider.requests.length;
  const rows: readonly (readonly [Asking, number, string, string | null])[] = [
    [{ previous_response_id: id, conversation: made.id }, 400, "mutually_exclusive_parameters", "conversation"],
    [{ previous_response_id: 7 }, 400, "invalid_type", "previous_response_id"],
    [{ previous_response_id: "other" }, 400, "invalid_value", "previous_response_id"],
    [{ previous_response_id: `${id}x` }, 400, "previous_response_not_found", "previous_response_id"],
    [{ previous_response_id: "resp_abc", model: "claude" }, 400, "previous_response_not_found", "previous_response_id"],
    [{ conversation: {} }, 400, "missing_required_parameter", "conversation.id"],
    [{ conversation: "other" }, 400, "invalid_value", "conversation"],
    [{ conversation: { id: 7 } }, 400, "invalid_type", "conversation.id"],
    [{ conversation: `${made.id}0` }, 404, "not_found", null],
    [{ conversation: "conv_abc", model: "claude" }, 404, "not_found", null],
    [{ background: true, store: false }, 400, "invalid_value", "background"],
    [{ background: "yes" }, 400, "invalid_type", "background"],
    [{ context_management: {} }, 400, "invalid_type", "context_management"],
    [{ context_management: [{ type: "other" }] }, 400, "invalid_value", "context_management[0].type"],
    [
      { context_management: [{ type: "compaction", compact_threshold: 0 }] },
      400,
      "integer_below_min_value",
      "context_management[0].compact_threshold",
    ],
    [
      { context_management: [{ type: "compaction", compact_threshold: "1" }] },
      400,
      "invalid_type",
      "context_management[0].compact_threshold",
    ],
    [{ input: [{ type: "compaction_trigger" }, question] }, 400, "invalid_value", "input[0]"],
    [{ input: [edited, question] }, 400, "invalid_encrypted_content", "input[0].encrypted_content"],
    [{ input: [{ type: "item_reference", id: "msg_x" }], previous_response_id: id }, 404, "not_found", "input"],
  ];
  for (const [body, status, code, param] of rows) {
    const asked = { model: "gpt", input: "x", ...body } as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    await assert.rejects(ada.responses.create(asked), (error: InstanceType<typeof OpenAI.APIError>) => {
      assert.deepEqual([error.status, error.code, error.param], [status, code, param], JSON.stringify(body));
      assert.equal(error.type, "invalid_request_error");
      return true;
    });
  }
  assert.equal(served.provider.requests.length, before, "the provider was not asked");
  assert.deepEqual(await inputOf(ada, id), ["mine"]);
  await refused(ada.responses.retrieve(id, { stream: false, starting_after: 1 }), 400, "invalid_value");
  await refused(ada.responses.cancel(id), 400, "invalid_value");
  await refused(ada.responses.inputItems.list(id, { limit: 0 }), 400, "integer_below_min_value");
  await refused(ada.responses.inputItems.list(id, { limit: 101 }), 400, "integer_above_max_value");
  await refused(ada.responses.inputItems.list(id, { order: "up" as "asc" }), 400, "invalid_value");
  await refused(ada.responses.inputItems.list(id, { after: "msg_x" }), 404, "not_found");
  await refused(ada.conversations.items.create(made.id, { items: [] }), 400, "missing_required_parameter");
  await refused(
    ada.conversations.items.create(made.id, { items: [{ role: "nobody" } as never] }),
    400,
    "invalid_value",
  );
  await refused(
    ada.conversations.items.create(made.id, { items: Array.from({ length: 21 }, () => question) }),
    400,
    "array_above_max_length",
  );
  await refused(ada.conversations.create({ metadata: { a: 1 } as never }), 400, "invalid_value");
  await refused(ada.conversations.items.retrieve("msg_x", { conversation_id: made.id }), 404, "not_found");
});

test("an id of OpenAI's own and a compaction item of its own go to OpenAI as they came", async (t) => {
  const { url, provider } = await beforeProvider(t);
  const client = openaiAt(url);
  await assert.rejects(client.responses.create({ model: "gpt", input: "x", previous_response_id: "resp_abc" }));
  const foreign: Item = { type: "compaction", encrypted_content: "gAAAAAB" };
  await assert.rejects(client.responses.create({ model: "gpt", input: [foreign, { role: "user", content: "x" }] }));
  const bodies = provider.requests.map(({ body }) => body as Asking);
  assert.equal(bodies[0]!["previous_response_id"], "resp_abc");
  assert.deepEqual((bodies[1]!["input"] as Item[])[0], foreign);
});

test("what is held is asked of the vendor itself where the request wants the vendor's own ways, and never otherwise", async (t) => {
  const { url, provider } = await beforeProvider(t);
  const client = openaiAt(url);
  const context = [{ type: "compaction", compact_threshold: 1000 }];
  const first = await client.responses.create({ model: "gpt", input: "x", context_management: context });
  await client.responses.create({
    model: "gpt",
    input: "y",
    previous_response_id: first.id,
    context_management: context,
  });
  const { id } = await client.conversations.create({});
  await client.responses.create({ model: "gpt", input: "z", conversation: id, background: false, store: true });
  for (const { body } of provider.requests)
    for (const name of ["previous_response_id", "conversation", "context_management"])
      assert.ok(!(name in (body as Asking)), name);
  const headers = { "x-palimpsest-compaction": "native" };
  await assert.rejects(
    client.responses.create({ model: "gpt", input: "x", previous_response_id: first.id }, { headers }),
  );
  await client.responses.create({ model: "gpt", input: "x", context_management: context }, { headers });
  const [named, compacted] = provider.requests.slice(-2).map(({ body }) => body as Asking);
  assert.equal(named!["previous_response_id"], first.id);
  assert.deepEqual(compacted!["context_management"], context);
});
