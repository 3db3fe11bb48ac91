// What tools of ours at /v1 may not do: come unasked, replace a client's tool, go on without end, or leave a broken log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, CHAT, MESSAGES, RESPONSES, user } from "../../../test/asking.ts";
import { beforeProvider } from "../../../test/before-provider.ts";
import {
  anthropic,
  CLIENTS,
  call,
  chat,
  logOf,
  note,
  ON,
  OURS,
  onlyThread,
  playing,
  refusals,
  responses,
  served,
} from "../../../test/own-tools.ts";
import { openaiChat } from "../openai-chat.ts";
import { ownResults } from "./offer.ts";

test("unless asked for: the provider gets the client's own bytes", async (t) => {
  const { url, provider } = await beforeProvider(t, { respond: () => "ok" });
  const answer = await ask(url, [user("hi")]);
  assert.equal(answer.header("tools"), null);
  assert.equal("tools" in provider.requests[0]!.body!, false);
});

test("the header asks for them and sends them away, whatever is configured", async (t) => {
  const off = await beforeProvider(t, { respond: () => "ok" });
  const asked = await ask(off.url, [user("hi")], { headers: { "x-palimpsest-tools": "on" } });
  assert.equal(asked.header("tools"), OURS.join(","));
  assert.deepEqual(off.provider.requests[0]!.tools, OURS);
  const on = await served(t, () => "ok");
  const sent = await ask(on.url, [user("hi")], { headers: { "x-palimpsest-tools": "off" } });
  assert.deepEqual([sent.header("tools"), on.provider.requests[0]!.tools], [null, []]);
  const wrong = await ask(on.url, [user("hi")], { headers: { "x-palimpsest-tools": "some" } });
  assert.equal(wrong.status, 400);
});

for (const [path, tool] of [
  [CHAT, { type: "function", function: { name: "notes", parameters: { type: "object" } } }],
  [MESSAGES, { name: "notes", input_schema: { type: "object" } }],
  [RESPONSES, { type: "function", name: "notes", parameters: { type: "object" }, strict: false }],
] as const)
  test(`${path}: a client's tool of the same name wins, and ours is said to be left out`, async (t) => {
    const { url, provider } = await served(t, playing({ text: "", calls: [call("c1", "notes", { mine: true })] }));
    const answer = await ask(url, [user("hi")], { path, body: { tools: [tool] } });
    assert.equal(answer.header("tools-omitted"), "notes");
    assert.equal(provider.requests.length, 1, "the call is the client's");
    assert.deepEqual(provider.requests[0]!.tools, ["notes", ...OURS.filter((name) => name !== "notes")]);
    assert.match(answer.text, /mine/);
  });

test("a request that leaves the model no choice is offered none of ours", async (t) => {
  const { url, provider } = await served(t, () => "ok");
  const sound = { type: "function", function: { name: "sound", parameters: { type: "object" } } };
  for (const choice of ["none", { type: "function", function: { name: "sound" } }]) {
    const answer = await ask(url, [user("hi")], { body: { tools: [sound], tool_choice: choice } });
    assert.equal(answer.header("tools"), "none");
    assert.deepEqual(provider.requests.at(-1)!.tools, ["sound"]);
  }
  for (const more of [{ "x-palimpsest-mode": "observe" }, { "x-palimpsest-compaction": "native" }]) {
    await ask(url, [user("hi")], { headers: more });
    assert.deepEqual(provider.requests.at(-1)!.tools, []);
  }
});

for (const [name, connect] of CLIENTS)
  for (const stream of [false, true])
    test(`${name}, ${stream ? "streamed" : "whole"}: a model that asks for a fresh window in every step is stopped, and told`, async (t) => {
      const gateway = await served(t, ({ index }) =>
        index === 0 ? "Hello." : { text: "", calls: [call(`c${index}`, "new_context")] },
      );
      const client = connect(gateway.url, { stream });
      await client.say(`Hi. ${"Waves roll in. ".repeat(400)}`);
      await assert.rejects(() => client.say("Go on."), /own tools \(new_context\) in more than 8 rounds/);
      assert.equal(gateway.provider.requests.length, 10);
      assert.deepEqual(refusals(gateway), []);
      const sent = gateway.provider.requests.map(({ body }) => JSON.stringify(body));
      assert.match(sent[2]!, /A fresh window starts before your next step/);
      assert.match(sent[3]!, /Refused: a fresh window was started one step ago/);
      assert.match(sent[9]!, /The limit of 8 rounds with these tools in one request is reached/);
      await logOf(gateway, await onlyThread(gateway));
    });

for (const [name, connect] of CLIENTS)
  for (const stream of [false, true])
    test(`${name}, ${stream ? "streamed" : "whole"}: a request that failed between rounds goes on in its thread when it is sent again`, async (t) => {
      const gateway = await served(t, ({ index }) => {
        if (index === 0) return "Hello.";
        return index < 10 ? { text: "", calls: [call(`c${index}`, "context_remaining")] } : `Answer ${index}.`;
      });
      const kept = connect(gateway.url, { stream });
      const first = await kept.say("Hi.");
      await assert.rejects(() => kept.say("How much is left?"), /more than 8 rounds/);
      const again = await kept.again();
      assert.equal(again.text, "Answer 10.");
      const log = await logOf(gateway, await onlyThread(gateway));
      assert.equal(log.filter((body) => body.includes("How much is left?")).length, 1);
      assert.match(JSON.stringify(gateway.provider.requests.at(-1)!.body), /The limit of 8 rounds/);
      assert.deepEqual(refusals(gateway), []);
      const next = await kept.say("Thanks.");
      assert.equal(next.text, "Answer 11.");
      await onlyThread(gateway);
      assert.ok(first.id !== next.id);
    });

test("a first request that failed between rounds goes on in its thread when it is sent again", async (t) => {
  const gateway = await served(t, ({ index }) =>
    index < 9 ? { text: "", calls: [call(`c${index}`, "context_remaining")] } : `Answer ${index}.`,
  );
  const asked = [user("How much is left?")];
  assert.equal((await ask(gateway.url, asked)).status, 502);
  const again = await ask(gateway.url, asked);
  assert.deepEqual([again.status, again.header("match")], [200, "extended"]);
  const log = await logOf(gateway, await onlyThread(gateway));
  assert.equal(log.filter((body) => body.includes("How much is left?")).length, 1);
});

test("the headers of a whole answer describe the last of its rounds", async (t) => {
  const gateway = await served(t, ({ index }) => {
    if (index === 1) return { text: "", calls: [call("w", "new_context")] };
    return `Answer ${index}.`;
  });
  const talk = [user(`The password is swordfish. ${"Waves roll in. ".repeat(400)}`)];
  await ask(gateway.url, talk);
  const answer = await ask(gateway.url, [...talk, { role: "assistant", content: "Answer 0." }, user("Start afresh.")]);
  assert.deepEqual([answer.header("view"), answer.header("compaction")?.split(";")[0]], ["compacted", "rollover"]);
  const [, sent] = (answer.header("tokens") ?? "").split(";").map(Number);
  assert.ok(sent! < 1500, `${answer.header("tokens")}: the first round sent the long question`);
});

test("a fresh window that was asked for hides what came before, and recall finds it", async (t) => {
  const gateway = await served(t, ({ index }) => {
    if (index === 1)
      return { text: "", calls: [call("n", "notes", note("The plan is to sail at dawn.")), call("w", "new_context")] };
    if (index === 3) return { text: "", calls: [call("r", "recall", { query: "password of the boathouse" })] };
    return `Answer ${index}.`;
  });
  const client = chat(gateway.url, { stream: false });
  await client.say(`The password of the boathouse is swordfish. ${"Waves roll in. ".repeat(400)}`);
  await client.say("Start afresh.");
  const fresh = gateway.provider.requests[2]!;
  assert.ok(fresh.tokens < gateway.provider.requests[1]!.tokens, "what came before is hidden");
  assert.match(JSON.stringify(fresh.body), /sail at dawn/, "notes stand at the start of the window");
  await client.say("What was the password?");
  assert.match(JSON.stringify(gateway.provider.requests[4]!.turns.at(-1)), /swordfish/);
  assert.deepEqual(refusals(gateway), []);
  await logOf(gateway, await onlyThread(gateway));
});

test("a finished stretch is folded into its report, and the client goes on with its own history", async (t) => {
  const gateway = await served(t, ({ index }) => {
    if (index === 0) return { text: "", calls: [call("k", "checkpoint", { name: "dig" })] };
    if (index === 1) return { text: "", calls: [call("s", "sound")] };
    if (index === 2) return { text: "", calls: [call("f", "fold", { name: "dig", report: "Seven fathoms, sand." })] };
    return `Answer ${index}.`;
  });
  const client = anthropic(gateway.url, { stream: true, tools: ["sound"] });
  const asked = await client.say("How deep is it?");
  await client.result(asked, `7 fathoms ${"sand ".repeat(200)}`);
  const folded = JSON.stringify(gateway.provider.requests[3]!.body);
  assert.match(folded, /Seven fathoms, sand/);
  assert.doesNotMatch(folded, /sand sand sand/);
  await client.say("Thanks.");
  assert.doesNotMatch(JSON.stringify(gateway.provider.requests[4]!.body), /sand sand sand/);
  assert.deepEqual(refusals(gateway), []);
  await logOf(gateway, await onlyThread(gateway));
});

test("bad input of a call changes nothing, and the model is told what is wrong", async (t) => {
  const gateway = await served(
    t,
    playing(
      { text: "", calls: [call("a", "notes", note("x", 7)), call("b", "fold", { name: "nowhere", report: "r" })] },
      "Sorry.",
    ),
  );
  await chat(gateway.url, { stream: false }).say("Go on.");
  const sent = JSON.stringify(gateway.provider.requests[1]!.body);
  assert.match(sent, /Refused, nothing changed/);
  assert.match(sent, /there is no checkpoint nowhere/);
});

for (const stream of [false, true])
  test(`${stream ? "streamed" : "whole"}: a provider that refuses the second round is heard in its own words`, async (t) => {
    const gateway = await served(
      t,
      playing({ text: "Wait.", calls: [call("c", "context_remaining")] }, "Never heard."),
      {
        faults: { 1: { kind: "rate-limit" } },
      },
    );
    const client = chat(gateway.url, { stream });
    await assert.rejects(() => client.say("How much is left?"), /rate limit/i);
    await logOf(gateway, await onlyThread(gateway));
  });

test("thoughts that are bound to their prefix stay valid over rounds of ours", async (t) => {
  const gateway = await served(
    t,
    ({ index }) =>
      index % 2 === 0
        ? { reasoning: `Thought ${index}.`, text: "", calls: [call(`c${index}`, "context_remaining")] }
        : { reasoning: `Thought ${index}.`, text: `Answer ${index}.` },
    { binding: "prefix" },
  );
  const client = anthropic(gateway.url, { stream: true, more: { model: "bound", thinking: { type: "adaptive" } } });
  for (const words of ["One?", "Two?", "Three?"]) await client.say(words);
  assert.deepEqual(refusals(gateway), []);
  await logOf(gateway, await onlyThread(gateway));
});

test("a stored response and its conversation are listed without calls to tools of ours", async (t) => {
  const gateway = await served(
    t,
    playing(
      { text: "First.", calls: [call("c1", "notes", note("Kept."))] },
      { text: "Then.", calls: [call("c2", "notes", { act: "read" }), call("c3", "sound")] },
      "Done.",
    ),
  );
  const client = responses(true)(gateway.url, { stream: false, tools: ["sound"] });
  const asked = await client.say("How deep?");
  const last = await client.result(asked, "7 fathoms");
  assert.equal(last.text, "Done.");
  const ids = [asked, last].map(({ id }) => id);
  const stored = await Promise.all(
    ids.map(async (id) => (await (await fetch(`${gateway.url}/v1/responses/${id}`)).json()) as StoredBody),
  );
  const kinds = stored.map(({ output }) => output.map(({ type }) => type));
  assert.deepEqual(kinds, [["message", "message", "function_call"], ["message"]]);
  assert.deepEqual(
    stored.map(({ tools }) => tools.length),
    [1, 1],
  );
  for (const order of ["asc", "desc"]) {
    const listed = await fetch(`${gateway.url}/v1/responses/${last.id}/input_items?order=${order}`);
    const { data } = (await listed.json()) as { data: { type: string; call_id?: string }[] };
    const calls = data.flatMap(({ call_id: id }) => (id === undefined ? [] : [id]));
    assert.deepEqual(new Set(calls), new Set(["c3"]));
    assert.equal(data.length, 5, "question, two texts, the client's call and its result");
  }
});

interface StoredBody {
  readonly output: readonly { readonly type: string }[];
  readonly tools: readonly unknown[];
}

test("of many calls in one answer the first are carried out; the results of the others say why they are not", async (t) => {
  const calls = Array.from({ length: 5 }, (_, index) => call(`r${index}`, "context_remaining"));
  const config = ON.replace("tools: true", "tools: true, tool_calls_per_round: 3");
  const gateway = await served(t, playing({ text: "", calls }, "Done."), { config });
  const { message } = await ask(gateway.url, [user("hi")]);
  assert.equal(message["content"], "Done.");
  const [, again] = gateway.provider.requests;
  const results = (again!.body!["messages"] as { role: string; content: string }[]).filter(
    ({ role }) => role === "tool",
  );
  const refused = results.map(({ content }) => /^Not carried out: at most 3 calls/.test(content));
  assert.deepEqual(refused, [false, false, false, true, true]);
  assert.deepEqual(refusals(gateway), []);
  await logOf(gateway, await onlyThread(gateway));
});

test("once the client has left no further call is carried out, and every call has its result", async () => {
  const left = new AbortController();
  let carriedOut = 0;
  const execute = async () => {
    carriedOut += 1;
    if (carriedOut === 2) left.abort();
    return "found";
  };
  const tools = { byName: new Map([["recall", { name: "recall", execute }]]) };
  const made = openaiChat.shape.make(
    "assistant",
    ["a", "b", "c", "d"].map((id) => ({ kind: "call", id, name: "recall", input: "{}" }) as never),
  );
  const parsed = { vendor: openaiChat, deps: { settings: { gateway: { tool_calls_per_round: 9 } } } };
  const said = { message: made[0]!, state: "ended" };
  const results = await ownResults(parsed as never, { tools } as never, { said: said as never, left: left.signal });
  assert.equal(carriedOut, 2);
  const texts = results.map(({ message }) => (message as { content: string }).content);
  assert.deepEqual(texts, ["found", "found", ...Array(2).fill("Not carried out: the client has left.")]);
});
