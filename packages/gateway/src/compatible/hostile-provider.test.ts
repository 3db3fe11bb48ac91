// A provider that answers with a page, with too much, or with comments that never end: on each way to it.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { CHAT, MESSAGES, RESPONSES } from "../../test/asking.ts";
import { serving } from "../../test/http-server.ts";
import { ManualTime } from "../../test/manual-time.ts";
import { type RunningOptions, running } from "../../test/running.ts";

const EVENTS = { "content-type": "text/event-stream" };

/** Each protocol by a provider that speaks it, kept and passed, and by one that doesn't. */
const WAYS = [
  [CHAT, "gpt", "on"],
  [CHAT, "gpt", "off"],
  [CHAT, "claude", "on"],
  [CHAT, "claude", "off"],
  [MESSAGES, "claude", "on"],
  [MESSAGES, "gpt", "on"],
  [RESPONSES, "gpt", "on"],
] as const;

type Way = (typeof WAYS)[number];

test("an answer that is too long is not read to its end: 502 where nothing was said yet, else broken off", async (t) => {
  const closed: Promise<unknown>[] = [];
  const { asked } = await hostile(t, (outgoing, stream) => {
    closed.push(once(outgoing, "close"));
    outgoing.writeHead(200, stream ? EVENTS : { "content-type": "application/json" });
    const more = (): void => {
      if (!outgoing.destroyed)
        outgoing.write(`${stream ? "data: " : ""}${"x".repeat(60_000)}`, () => setImmediate(more));
    };
    more();
  });
  for (const way of WAYS)
    for (const stream of [false, true]) {
      const { status, text } = await asked(way, stream);
      assert.ok(status === 502 || text === null, `${way.join(" ")} ${stream}: ${status}`);
      assert.ok((text ?? "").length < 250_000);
    }
  await Promise.all(closed);
});

test("an answer that announces more than the limit is a 502 at once", async (t) => {
  const { asked, lines } = await hostile(t, (outgoing) => {
    outgoing.writeHead(200, { "content-type": "application/json", "content-length": "100000000" });
    outgoing.write("{");
  });
  for (const way of WAYS) {
    assert.equal((await asked(way, false)).status, 502, way.join(" "));
    assert.equal(lines.at(-1)?.status, 502);
  }
});

test("a stream that says nothing but comments is broken off when its time is over", async (t) => {
  const time = new ManualTime();
  const begun: (() => void)[] = [];
  const closed: Promise<unknown>[] = [];
  const { asked } = await hostile(
    t,
    (outgoing) => {
      closed.push(once(outgoing, "close"));
      outgoing.writeHead(200, EVENTS);
      outgoing.write(": k\n\n");
      begun.shift()!();
    },
    { after: time.after, clock: time.clock },
  );
  for (const way of WAYS) {
    const there = new Promise<void>((resolve) => begun.push(resolve));
    const before = time.waiting;
    const answer = asked(way, true);
    await there;
    while (time.waiting === before) await new Promise(setImmediate);
    await time.pass(600_000);
    const { status, text } = await answer;
    assert.ok(status === 504 || text === null, `${way.join(" ")}: ${status} ${text}`);
  }
  await Promise.all(closed);
});

test("a page of the provider's is plain text here, and nothing of its headers is for a browser", async (t) => {
  const { asked } = await hostile(t, (outgoing) => {
    outgoing.writeHead(200, {
      "content-type": "text/html",
      "clear-site-data": '"cookies"',
      "x-frame-options": "ALLOWALL",
      "access-control-allow-origin": "*",
      refresh: "0;url=http://evil.test/",
      "www-authenticate": "Basic",
      "content-security-policy": "script-src *",
      "set-cookie": "a=b",
      "x-ratelimit-remaining-tokens": "7",
    });
    outgoing.end("<html><script>alert(1)</script>");
  });
  for (const way of WAYS) {
    const { headers } = await asked(way, false);
    assert.doesNotMatch(headers.get("content-type") ?? "", /html/, way.join(" "));
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
    for (const name of [
      "clear-site-data",
      "x-frame-options",
      "access-control-allow-origin",
      "refresh",
      "www-authenticate",
      "set-cookie",
    ])
      assert.equal(headers.get(name), null, `${way.join(" ")} ${name}`);
  }
});

/** `text` null: the answer broke off. */
async function hostile(
  t: TestContext,
  answer: (outgoing: ServerResponse, stream: boolean) => void,
  options: RunningOptions = {},
) {
  const base = await serving(t, async (incoming, outgoing) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    answer(outgoing, /"stream":true/.test(body));
  });
  const entry = (name: string, provider: string) =>
    `  - {name: ${name}, provider: ${provider}, model: ${name}, base_url: "${base}", api_key: k}\n`;
  const config = `models:\n${entry("gpt", "openai")}${entry("claude", "anthropic")}gateway: {answer_limit_mb: 0.2}\n`;
  const { url, lines } = await running(t, { config, ...options });
  let count = 0;
  const asked = async ([path, model, mode]: Way, stream: boolean) => {
    count += 1;
    const content = `Question ${count}`;
    const words = path === RESPONSES ? { input: content } : { messages: [{ role: "user", content }] };
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-palimpsest-mode": mode },
      body: JSON.stringify({ model, stream, max_tokens: 100, ...words }),
    }).catch(() => null);
    const text = response === null ? null : await response.text().catch(() => null);
    return { status: response?.status ?? 0, headers: response?.headers ?? new Headers(), text };
  };
  return { asked, lines };
}
