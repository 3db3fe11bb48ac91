// What a key reaches at the operator's account with the provider: what the list names, with a model of the configuration.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import OpenAI, { toFile } from "openai";
import { CHAT, MESSAGES, RESPONSES } from "../../test/asking.ts";
import { type Answer, type Noted, noting } from "../../test/http-server.ts";
import { keyed } from "../../test/keyed.ts";
import { codeOf, running } from "../../test/running.ts";

const USAGE = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
const ANSWER = { object: "list", choices: [{ message: { role: "assistant", content: "ok" } }], usage: USAGE };

/** A provider with two models, one of them under another name here. */
async function provider(t: TestContext, gateway: string, answer?: (noted: Noted) => Answer) {
  const { url, seen } = await noting(t, answer ?? { body: JSON.stringify(ANSWER) });
  const entry = (name: string, model: string) =>
    `  - {name: ${name}, provider: openai, model: ${model}, base_url: "${url}/v1", api_key: operators}\n`;
  const config = `models:\n${entry("oa", "oa")}${entry("small", "gpt-small")}gateway: {${gateway}}\n`;
  return { config, seen };
}

const ACCOUNT = [
  ["GET", "/v1/files"],
  ["GET", "/v1/files/file-of-ann/content"],
  ["DELETE", "/v1/files/file-of-ann"],
  ["GET", "/v1/chat/completions?limit=100"],
  ["GET", "/v1/chat/completions/chatcmpl-ann/messages"],
  ["GET", "/v1/batches"],
  ["GET", "/v1/vector_stores"],
  ["GET", "/v1/assistants"],
  ["GET", "/v1/fine_tuning/jobs"],
  ["GET", "/v1/organization/usage/completions"],
  ["GET", "/v1/messages/batches"],
  ["GET", "/v1/responses/resp_anns_own_at_the_vendor"],
  ["GET", "/v1/conversations/conv_anns_own_at_the_vendor/items"],
  ["GET", "/v1/embeddings"],
  ["OPTIONS", "/v1/files"],
] as const;

test("a user's or a delegate's key doesn't reach what the operator's account holds", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  for (const as of ["bob", "delegate"])
    for (const [method, path] of ACCOUNT)
      for (const headers of [{}, { "anthropic-version": "2023-06-01" }, { "x-palimpsest-compaction": "native" }]) {
        const { status } = await ask(as, method, path, { headers: { "x-palimpsest-user": "bob", ...headers } });
        assert.equal(status, 404, `${as} ${method} ${path}`);
      }
  assert.deepEqual(seen, []);
});

test("an admin, a caller with the provider's own key, and every caller where the list says so reach it", async (t) => {
  const { config, seen } = await provider(t, "forward_keys: true");
  const { ask } = await keyed(t, { config });
  const path = "/v1/files";
  assert.equal((await ask("admin", "GET", path)).status, 200);
  assert.equal((await ask("bob", "GET", path, { headers: { "x-provider-key": "bobs-own" } })).status, 200);
  assert.equal((await ask("sk-clients", "GET", path)).status, 200);
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    ["Bearer operators", "Bearer bobs-own", "Bearer sk-clients"],
  );
  for (const list of ["all", "[GET /v1/files]"]) {
    const listed = await provider(t, `pass_through: ${list}`);
    const other = await keyed(t, { config: listed.config });
    assert.equal((await other.ask("bob", "GET", path)).status, 200, list);
  }
});

test("a path of the list may have places for ids, and matches nothing longer", async (t) => {
  const { config, seen } = await provider(t, "pass_through: ['GET /v1/files/{id}/content']");
  const { ask } = await keyed(t, { config });
  assert.equal((await ask("bob", "GET", "/v1/files/a/content")).status, 200);
  for (const path of ["/v1/files/content", "/v1/files/a/b/content", "/v1/files/a/content/x", "/v1/files"])
    assert.equal((await ask("bob", "GET", path)).status, 404, path);
  assert.equal((await ask("bob", "DELETE", "/v1/files/a/content")).status, 404);
  assert.equal(seen.length, 1);
});

test("a path with an encoded slash or backslash, or with two slashes, is refused for every caller", async (t) => {
  const { config, seen } = await provider(t, "pass_through: all, forward_keys: true");
  const { ask } = await keyed(t, { config });
  const paths = [
    "/v1/..%2f..%2fadmin",
    "/v1/..%2F..%2Fadmin",
    "/v1/..%5c..%5cx",
    "/v1/..\\..\\x",
    "/v1//x",
    "/v1/x//y",
    "/v1/..%252fadmin",
  ];
  for (const as of ["bob", "admin", "sk-clients"])
    for (const path of paths) assert.equal((await ask(as, "GET", path)).status, 400, `${as} ${path}`);
  // Dots lead out of `/v1`, where there is nothing.
  for (const path of ["/v1/%2e%2e/%2e%2e/admin", "/v1/../../admin", "/v1/../ab@evil.test/x"])
    assert.equal((await ask("bob", "GET", path)).status, 404, path);
  assert.deepEqual(seen, []);
});

test("what is passed on by default goes to a model of the configuration, under the provider's name of it", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  const paths = ["embeddings", "moderations", "audio/speech", "images/generations"].map((name) => `/v1/${name}`);
  for (const path of paths) {
    const { status, headers } = await ask("bob", "POST", path, { body: { model: "small", input: "x" } });
    assert.deepEqual([status, headers["x-palimpsest-match"]], [200, "passed"], path);
  }
  assert.deepEqual(
    seen.map(({ url, body }) => [url, JSON.parse(body).model]),
    paths.map((path) => [path, "gpt-small"]),
  );
});

const UNLISTED = '{"model":"gpt-9-most-expensive","prompt":"x","input":"x"}';
const JSON_TYPE = { "content-type": "application/json" };
const MARKED = { "x-palimpsest-user": "bob" };

const UNREADABLE: readonly (readonly [string, Record<string, string>, string | Buffer])[] = [
  ["no content type", {}, UNLISTED],
  ["no content type, a listed model", {}, '{"model":"oa"}'],
  [
    "UTF-16 with a mark",
    { "content-type": "application/json; charset=utf-16" },
    Buffer.from(`\ufeff${UNLISTED}`, "utf16le"),
  ],
  ["UTF-16 that says nothing of it", JSON_TYPE, Buffer.from(UNLISTED, "utf16le")],
  ["another charset", { "content-type": "application/json; charset=utf-7" }, '{"model":"oa"}'],
  ["malformed", JSON_TYPE, '{"model":"oa",}'],
  ["a mark before it", JSON_TYPE, '\ufeff{"model":"oa"}'],
  ["bytes that are no UTF-8", JSON_TYPE, Buffer.from('{"model":"oa","input":"\xff"}', "latin1")],
  ["no object", JSON_TYPE, '["oa"]'],
  ["no model", JSON_TYPE, '{"prompt":"x"}'],
  ["no text for a model", JSON_TYPE, '{"model":["oa"]}'],
  ["two models", JSON_TYPE, '{"model":"gpt-9-most-expensive","model":"oa"}'],
  ["two models, one with an escape", JSON_TYPE, '{"\\u006dodel":"gpt-9-most-expensive","model":"oa"}'],
  ["another name twice", JSON_TYPE, '{"model":"oa","input":"x","n":{"n":1,"m":2},"in\\u0070ut":"y"}'],
  ["another spelling, which some servers read too", JSON_TYPE, '{"model":"oa","Model":"gpt-9-most-expensive"}'],
  ["text", { "content-type": "text/plain" }, UNLISTED],
  ["an encoded body", { ...JSON_TYPE, "content-encoding": "gzip" }, '{"model":"oa"}'],
  ["a form that is none", { "content-type": "multipart/form-data; boundary=x" }, "no form"],
  ["nothing at all", {}, ""],
];

test("a body whose model can't be read is a 400, and nothing is sent", async (t) => {
  const { config, seen } = await provider(t, "pass_through: all");
  const { ask } = await keyed(t, { config });
  for (const path of ["/v1/completions", "/v1/embeddings", "/v1/images/generations", "/v1/audio/transcriptions"])
    for (const [title, headers, body] of UNREADABLE) {
      const answer = await ask("bob", "POST", path, { headers: { ...MARKED, ...headers }, body });
      assert.equal(answer.status, 400, `${path}: ${title}`);
    }
  assert.deepEqual(seen, []);
});

test("a conversation whose model can be spelled in two ways is refused, too", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  const messages = [{ role: "user", content: "hi" }];
  for (const mode of ["on", "off"]) {
    const headers = { "x-palimpsest-mode": mode };
    const { status } = await ask("bob", "POST", CHAT, { headers, body: { model: "oa", messages, MODEL: "gpt-9" } });
    assert.equal(status, 400, mode);
  }
  assert.deepEqual(seen, []);
});

test("a conversation with a name that stands twice, with an escape or without, is refused on every protocol", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  const hidden = '[{"role":"user","content":"hidden"}]';
  for (const [path, field] of [
    [CHAT, "messages"],
    [RESPONSES, "input"],
    [MESSAGES, "messages"],
  ] as const)
    for (const body of [
      `{"\\u006dodel":"gpt-9","model":"oa","max_tokens":9,"${field}":${hidden}}`,
      `{"model":"oa","max_tokens":9,"${field}":${hidden},"${field}":[{"role":"user","content":"shown"}]}`,
    ])
      for (const mode of ["on", "off"]) {
        const headers = { ...JSON_TYPE, "x-palimpsest-mode": mode };
        const { status } = await ask("bob", "POST", path, { headers, body });
        assert.equal(status, 400, `${path} ${mode} ${body}`);
      }
  assert.deepEqual(seen, []);
});

test("headers that steer a proxy or choose who pays don't go to the provider with the operator's key", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  const steering = ["x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url"];
  const proxies = ["x-forwarded-prefix", "x-forwarded-for", "x-forwarded-host", "forwarded", "x-real-ip"];
  const paying = ["openai-organization", "openai-project"];
  const headers = Object.fromEntries([...steering, ...proxies, ...paying].map((name) => [name, "x"]));
  for (const [path, more] of [
    ["/v1/embeddings", {}],
    [CHAT, {}],
    [CHAT, { "x-provider-key": "bobs-own" }],
  ] as const) {
    const body = { model: "oa", input: "x", messages: [{ role: "user", content: "hi" }] };
    const { status } = await ask("bob", "POST", path, { headers: { ...headers, ...more, "x-kept": "x" }, body });
    assert.equal(status, 200, path);
  }
  const sent = seen.map((noted) => Object.keys(noted.headers).filter((name) => name in headers));
  assert.deepEqual(sent, [[], [], paying]);
  assert.ok(seen.every((noted) => noted.headers["x-kept"] === "x"));
});

test("a provider's headers under our own name don't reach the client", async (t) => {
  const headers = { "x-palimpsest-thread": "forged", "x-palimpsest-view": "forged", "x-of-the-provider": "kept" };
  const { config } = await provider(t, "", () => ({ headers, body: JSON.stringify(ANSWER) }));
  const { ask } = await keyed(t, { config });
  const answer = await ask("bob", "POST", "/v1/embeddings", { body: { model: "oa", input: "x" } });
  assert.deepEqual(
    Object.entries(answer.headers).filter(([, value]) => value === "forged" || value === "kept"),
    [["x-of-the-provider", "kept"]],
  );
});

test("the operator's key is hidden where a provider repeats it in an error", async (t) => {
  const body = JSON.stringify({ error: { message: "wrong key: operators, for real" } });
  const { config } = await provider(t, "", () => ({ status: 401, body }));
  const { ask } = await keyed(t, { config });
  const messages = [{ role: "user", content: "hi" }];
  for (const [path, mode] of [
    ["/v1/embeddings", "on"],
    [CHAT, "on"],
    [CHAT, "off"],
  ] as const) {
    const headers = { "x-palimpsest-mode": mode };
    const { text } = await ask("bob", "POST", path, { headers, body: { model: "oa", input: "x", messages } });
    assert.match(text, /wrong key: \[hidden\], for real/, `${path} ${mode}`);
  }
});

test("a model that is not in the configuration is refused on every path", async (t) => {
  const { config, seen } = await provider(t, "pass_through: all");
  const { ask } = await keyed(t, { config });
  const paths = ["completions", "completions/", "embeddings", "images/generations", "batches", "chat/completions"];
  for (const as of ["bob", "admin"])
    for (const name of paths) {
      const answer = await ask(as, "POST", `/v1/${name}`, { headers: JSON_TYPE, body: UNLISTED });
      assert.deepEqual([answer.status, codeOf(answer)], [404, "model_not_found"], `${as} ${name}`);
    }
  const form = new FormData();
  form.set("model", "whisper-9");
  form.set("file", new Blob(["sound"]), "a.wav");
  const request = new Request("http://x/", { method: "POST", body: form });
  const answer = await ask("bob", "POST", "/v1/audio/transcriptions", {
    headers: { ...MARKED, "content-type": request.headers.get("content-type")! },
    body: Buffer.from(await request.arrayBuffer()),
  });
  assert.equal(answer.status, 404);
  assert.deepEqual(seen, []);
});

test("the official client's upload of a recording is passed on with the provider's name of the model", async (t) => {
  const { config, seen } = await provider(t, "", () => ({ body: '{"text":"heard"}' }));
  const { url, keys } = await keyed(t, { config });
  const openai = new OpenAI({ apiKey: keys.bob, baseURL: `${url}/v1`, maxRetries: 0 });
  const file = await toFile(Buffer.from("the sound of it"), "a.wav", { type: "audio/wav" });
  const { text } = await openai.audio.transcriptions.create({ model: "small", file, language: "en" });
  assert.equal(text, "heard");
  const { body, headers } = seen[0]!;
  assert.match(headers["content-type"] ?? "", /^multipart\/form-data; boundary=/);
  assert.match(body, /name="model"\r\n\r\ngpt-small\r\n/);
  assert.match(body, /name="language"\r\n\r\nen\r\n/);
  assert.match(body, /filename="a\.wav"\r\nContent-Type: audio\/wav\r\n\r\nthe sound of it\r\n/i);
});

test("a form that names two models is refused", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  for (const parts of [part("model", "gpt-9") + part("model", "oa"), part("prompt", "x"), part("Model", "oa")]) {
    const headers = { ...MARKED, "content-type": "multipart/form-data; boundary=b" };
    const { status } = await ask("bob", "POST", "/v1/images/edits", { headers, body: `${parts}--b--\r\n` });
    assert.equal(status, 400, parts);
  }
  assert.deepEqual(seen, []);
});

test("a form of very many fields is refused before it is parsed, however its boundary is written", async (t) => {
  const { config, seen } = await provider(t, "");
  const { ask } = await keyed(t, { config });
  const parts = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\noa\r\n'.repeat(1001);
  for (const boundary of ["b", '"b"', '"\\b"', "b; charset=utf-8"]) {
    const headers = { ...MARKED, "content-type": `multipart/form-data; boundary=${boundary}` };
    const answer = await ask("bob", "POST", "/v1/images/edits", { headers, body: `${parts}--b--\r\n` });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /more than 1000 fields/, boundary);
  }
  assert.deepEqual(seen, []);
});

test("what an operator lists beside it needs no model, and one that it names must be there", async (t) => {
  const { config, seen } = await provider(t, "pass_through: ['POST /v1/files', 'POST /v1/batches']");
  const { ask } = await keyed(t, { config });
  assert.equal((await ask("bob", "POST", "/v1/batches", { body: { input_file_id: "f" } })).status, 200);
  assert.equal((await ask("bob", "POST", "/v1/batches", { body: { model: "gpt-9" } })).status, 404);
  assert.equal((await ask("bob", "POST", "/v1/embeddings", { body: { model: "oa" } })).status, 404);
  assert.equal(seen.length, 1);
});

test("at this machine without keys everything passes as before", async (t) => {
  const { config, seen } = await provider(t, "");
  const { url } = await running(t, { config });
  const answer = await fetch(`${url}/v1/files`);
  assert.equal(answer.status, 200);
  assert.equal(seen.length, 1);
});
