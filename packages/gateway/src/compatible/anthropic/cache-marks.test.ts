import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AnthropicMessage } from "@palimpsest/core/internal/message";
import { startProviderServer } from "@palimpsest/testing";
import { running } from "../../../test/running.ts";
import type { JsonFields } from "../../http/read-json.ts";
import { markedCache, withMarks } from "./cache-marks.ts";
import { anthropicMessages } from "./vendor.ts";

const SHORT = { type: "ephemeral" };
const HOUR = { type: "ephemeral", ttl: "1h" };
const said = (text: string, cache_control?: object): AnthropicMessage =>
  ({
    role: "user",
    content: cache_control === undefined ? text : [{ type: "text", text, cache_control }],
  }) as AnthropicMessage;
const block = (cache_control?: object) => ({
  type: "text",
  text: "Be brief.",
  ...(cache_control && { cache_control }),
});

function asked(body: JsonFields) {
  const whole = { model: "m", max_tokens: 10, ...body };
  const read = anthropicMessages.read(whole, null);
  assert.ok(read.kind === "request");
  return { body: whole, request: read.request };
}

/** `index:mark` of each, in order. */
const marks = (messages: readonly AnthropicMessage[]): string[] =>
  messages.flatMap(({ content }, index) =>
    typeof content === "string"
      ? []
      : content.flatMap(({ cache_control: mark }) =>
          mark == null ? [] : [`${index}:${(mark as { ttl?: string }).ttl ?? "5m"}`],
        ),
  );

const VIEW = [said("summary"), said("old [pruned"), said("older [pruned"), said("four"), said("five")];
const CUTS = [VIEW[1]!, VIEW[2]!];

for (const [title, body, cache, expected] of [
  ["a client that marks nothing gets no marks", { messages: [said("four"), said("five")] }, "none", []],
  [
    "its mark stays where it is, and ours come before it",
    { messages: [said("one"), said("four", SHORT), said("five")] },
    "marks",
    ["1:5m", "2:5m", "3:5m"],
  ],
  [
    "ours live as long as the first of the client's behind them, since longer lives come first",
    { system: [block(HOUR)], messages: [said("one"), said("five", HOUR)] },
    "marks",
    ["1:1h", "2:1h", "4:1h"],
  ],
  [
    "its mark on a message that isn't shown as it was moves to the end",
    { messages: [said("gone", SHORT), said("other")] },
    "marks",
    ["1:5m", "2:5m", "4:5m"],
  ],
  [
    "with no room for two, none of ours is set",
    { system: [block(SHORT)], messages: [said("one"), said("four", SHORT), said("five", SHORT)] },
    "end",
    ["3:5m", "4:5m"],
  ],
  [
    "marks of tools count",
    { tools: [{ name: "a", cache_control: SHORT }], system: [block(SHORT)], messages: [said("five", SHORT)] },
    "end",
    ["4:5m"],
  ],
  [
    "the mark that the API sets at the end by itself counts",
    { cache_control: SHORT, messages: [said("four"), said("five")] },
    "marks",
    ["1:5m", "2:5m"],
  ],
] as const)
  test(`marks of a prompt: ${title}`, () => {
    const { body: whole, request } = asked(body);
    assert.equal(markedCache(whole, request).promptCache, cache);
    const written = withMarks({ body: whole, request, messages: VIEW, cuts: CUTS });
    assert.deepEqual(marks(written), expected);
    assert.equal(written.length, VIEW.length);
  });

const PAGE = "one more line of it\n".repeat(300);
const MARK = { cache_control: SHORT };

/** A client with tools that marks its system prompt and its newest message, as most do; each request as it was sent on. */
async function readPages(
  t: TestContext,
  { pages, pricing, marked }: { pages: number; pricing: string; marked: boolean },
) {
  const provider = await startProviderServer({
    window: 200_000,
    respond: ({ index }) => ({ calls: [{ name: "list", input: { page: index } }] }),
  });
  t.after(() => provider.close());
  const entry = `{name: claude, provider: anthropic, model: m, base_url: "${provider.url}", api_key: k, max_input_tokens: 200000${pricing}}`;
  const prune = "{from: 1, protect_tokens: 100, min_gain_tokens: 1}";
  const config = `config_version: 1\nmodels: [${entry}]\nsummarization: {prune: ${prune}, keep: {type: messages, value: 2}}\n`;
  const { url, home } = await running(t, { config });
  const mark = marked ? MARK : {};
  const post = (path: string, body: JsonFields) =>
    fetch(`${url}/v1/messages${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: "claude", ...body }),
    });
  const history: JsonFields[] = [{ role: "user", content: [{ type: "text", text: "Read it all." }] }];
  for (let page = 0; page < pages; page += 1) {
    const newest = history.at(-1)! as { readonly content: readonly object[] };
    const messages = history.with(-1, { ...newest, content: newest.content.map((one) => ({ ...one, ...mark })) });
    const system = [{ type: "text", text: "Be brief.", ...mark }];
    const tools = [{ name: "list", input_schema: { type: "object", properties: {} } }];
    const response = await post("", { max_tokens: 100, system, tools, messages });
    assert.equal(response.status, 200, `page ${page}: ${response.status === 200 ? "" : await response.text()}`);
    const { role, content } = (await response.json()) as { role: string; content: JsonFields[] };
    const call = content.find(({ type }) => type === "tool_use")!;
    const result = { type: "tool_result", tool_use_id: call["id"], content: `${page} ${PAGE}` };
    history.push({ role, content }, { role: "user", content: [result] });
  }
  const sent = provider.requests.map(({ body }) => body!["messages"] as AnthropicMessage[]);
  return { sent, post, home, history };
}

const stubsIn = (messages: readonly AnthropicMessage[]): number[] =>
  messages.flatMap((message, index) => (JSON.stringify(message).includes("[pruned") ? [index] : []));

test("a pruned conversation carries the client's mark and ours behind the last two prunings, at most four with its system prompt's", async (t) => {
  const { sent: requests } = await readPages(t, {
    pages: 12,
    pricing: ", pricing: {input: 3, output: 15, cache_read: 3, cache_write: 3}",
    marked: true,
  });
  const last = requests.at(-1)!;
  const [stubs, before] = [stubsIn(last), stubsIn(requests.at(-2)!)];
  assert.ok(stubs.length > before.length && before.length > 0, `${stubs} after ${before}`);
  assert.deepEqual(
    marks(last),
    [before.at(-1), stubs.at(-1), last.length - 1].map((index) => `${index}:5m`),
  );
  for (const messages of requests) assert.ok(marks(messages).length <= 3);
});

test("a conversation on /v1 is pruned by what it costs: with dear writes never, without any mark at once", async (t) => {
  const dear = ", pricing: {input: 3, output: 15, cache_read: 0.3, cache_write: 300}";
  const { sent: never } = await readPages(t, { pages: 8, pricing: dear, marked: true });
  const { sent: atOnce } = await readPages(t, { pages: 8, pricing: dear, marked: false });
  assert.deepEqual(stubsIn(never.at(-1)!), []);
  assert.ok(stubsIn(atOnce.at(-1)!).length > 0);
  assert.deepEqual(marks(atOnce.at(-1)!), []);
});

test("a count, which needs no marks, prunes nothing of a conversation that has them", async (t) => {
  const dear = ", pricing: {input: 3, output: 15, cache_read: 0.3, cache_write: 300}";
  const { post, home, history } = await readPages(t, { pages: 8, pricing: dear, marked: true });
  const response = await post("/count_tokens", { messages: history });
  assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
  const { threads } = await home.store.threads();
  assert.equal(threads.length, 1);
  assert.deepEqual((await home.store.head(threads[0]!.header.id))!.prunes, []);
});
