// Summaries by a model on the compatible endpoints: written ahead so that no request waits, and done without while the model fails.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { verify } from "palimpsest/session";
import { ask, CHAT, MESSAGES, type Message, RESPONSES, talk, user } from "../../test/asking.ts";
import { beforeProvider } from "../../test/before-provider.ts";
import { ManualTime } from "../../test/manual-time.ts";

const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;
const question = (turn: number) => `Question ${turn}: ${"how deep is it there? ".repeat(15)}`;
const SUMMARY = JSON.stringify({ add: { goals: [{ text: "Find out how deep it is there", seqs: [1] }] } });

interface Asked {
  write(summary: string): void;
  refuse(): void;
}

/** A conversation whose summaries another model writes, as the test says. */
async function summarized(t: TestContext, drafts: boolean, summarize: (asked: Asked) => void) {
  let calls = 0;
  const server = createServer(async (incoming, outgoing) => {
    for await (const _ of incoming);
    calls += 1;
    const send = (status: number, body: object) => {
      outgoing.writeHead(status, { "content-type": "application/json" });
      outgoing.end(JSON.stringify(body));
    };
    summarize({
      write: (content) =>
        send(200, { choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] }),
      refuse: () => send(400, { error: { message: "out of order" } }),
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const time = new ManualTime();
  const served = await beforeProvider(t, {
    stated: 4000,
    respond,
    running: { clock: time.clock },
    config: `  - {name: small, provider: openai-compatible, model: m, base_url: "${address}", api_key: k, max_input_tokens: 100000}
summarization: {model_name: small, drafts: ${drafts}, trigger: [{type: fraction, value: 0.8}]}
title: {enabled: false}
memory: {enabled: false}
`,
  });
  return { ...served, time, calls: () => calls };
}

for (const system of ["", "Be brief. "])
  test(`a compaction by hand promises a client${system && " with a system prompt"} no tools that it doesn't have, before and after one by itself`, async (t) => {
    const { url } = await beforeProvider(t, { stated: 4000, respond });
    const body = system === "" ? {} : { system };
    const first = await talk(url, 6, { path: MESSAGES, body });
    const thread = first.heard[0]!.header("thread")!;
    const compacted = async () => {
      const target = `${url}/api/threads/${thread}`;
      const response = await fetch(`${target}/compact`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      assert.equal(response.status, 200, await response.clone().text());
      const { compaction } = (await (await fetch(`${target}/window`)).json()) as { compaction: { text: string } };
      return compaction.text;
    };
    assert.match(await compacted(), /The messages themselves are no longer shown\./);
    await talk(url, 14, { path: MESSAGES, body, history: first.messages });
    const again = await compacted();
    assert.match(again, /The messages themselves are no longer shown\./);
    assert.doesNotMatch(again, /recall/);
  });

for (const path of [CHAT, MESSAGES, RESPONSES])
  test(`${path}: a summary is written ahead while requests are answered, and used at the trigger without another call`, async (t) => {
    let drafting: Asked | null = null;
    const { url, home, provider, calls } = await summarized(t, true, (asked) => {
      drafting ??= asked;
    });
    let messages: readonly Message[] = [];
    while (drafting === null) {
      const next = await talk(url, 1, { path, history: messages, question });
      assert.equal(next.heard[0]!.header("compaction"), null, "it is asked for before the trigger");
      messages = next.messages;
    }
    const meanwhile = await ask(url, [...messages, user("How deep?")], { path });
    assert.deepEqual([meanwhile.status, meanwhile.header("compaction")], [200, null], "no request waits for it");
    messages = [...messages, user("How deep?"), meanwhile.message];
    (drafting as Asked).write(SUMMARY);
    let compaction: string | null = null;
    let thread: string | null = null;
    while (compaction === null) {
      const next = await talk(url, 1, { path, history: messages, question });
      [compaction, thread] = [next.heard[0]!.header("compaction"), next.heard[0]!.header("thread")];
      messages = next.messages;
    }
    assert.match(compaction, /^summarize;/);
    assert.match(JSON.stringify(provider.requests.at(-1)!.turns), /Find out how deep/);
    assert.equal(calls(), 1);
    assert.equal((await verify(home, thread!)).kind, "whole");
  });

test("a summarizer that fails is left alone for a while: requests go on with the extract, and later it is asked again", async (t) => {
  let works = false;
  const { url, home, provider, time, calls } = await summarized(t, false, (asked) => {
    if (works) asked.write(SUMMARY);
    else asked.refuse();
  });
  let messages: readonly Message[] = [];
  let thread = "";
  /** The next one, and whether the summarizer was asked for it. */
  const compaction = async (): Promise<string> => {
    const before = calls();
    for (;;) {
      const next = await talk(url, 1, { history: messages });
      const [heard] = next.heard;
      assert.equal(heard!.status, 200);
      messages = next.messages;
      thread = heard!.header("thread")!;
      const rung = heard!.header("compaction");
      if (rung !== null) return `${rung.split(";")[0]}, ${calls() > before ? "asked" : "left alone"}`;
    }
  };
  assert.equal(await compaction(), "extract, asked");
  assert.equal(await compaction(), "extract, asked");
  assert.equal(await compaction(), "extract, left alone");
  assert.equal(await compaction(), "extract, left alone");
  await time.pass(30_000);
  assert.equal(await compaction(), "extract, asked", "one try, which fails");
  await time.pass(30_000);
  assert.equal(await compaction(), "extract, left alone", "for longer now");
  works = true;
  await time.pass(30_000);
  assert.equal(await compaction(), "summarize, asked");
  assert.equal(await compaction(), "summarize, asked", "it is trusted again");
  assert.match(JSON.stringify(provider.requests.at(-1)!.turns), /Find out how deep/);
  assert.equal((await verify(home, thread)).kind, "whole");
});
