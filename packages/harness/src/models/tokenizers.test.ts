import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, test } from "node:test";
import { sampled } from "@palimpsest/core/internal/tokens";
import fc from "fast-check";
import { counterFor, exactCounter, exactCounterFor, modelCounter } from "./tokenizers.ts";

let o200k: (text: string) => number;
before(async () => {
  o200k = await exactCounter("o200k_base");
});

test("known texts have their published counts", async () => {
  assert.equal(o200k("hello world"), 2);
  assert.equal(o200k(""), 0);
  const cl100k = await exactCounter("cl100k_base");
  assert.equal(cl100k("tiktoken is great!"), 6);
});

test("special tokens in a conversation are plain text and don't throw", () => {
  assert.ok(o200k("<|endoftext|>") > 1);
  assert.ok(o200k("<|im_start|>system<|im_end|>") > 4);
});

test("any text can be counted, lone surrogates too", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const tokens = o200k(text);
      assert.ok(tokens >= 0 && tokens <= 4 * text.length);
    }),
  );
});

test("few words are remembered, so that one that comes again and again is found at once", async () => {
  // How long a lookup takes can't be asserted; that it was slow with many words is said where the number stands.
  const { default: table } = await import("gpt-tokenizer/encoding/o200k_base");
  const { mergeCacheSize } = Reflect.get(table, "bytePairEncodingCoreProcessor") as { mergeCacheSize: number };
  assert.ok(mergeCacheSize <= 256, `${mergeCacheSize}`);
});

test("a long text has as many tokens in pieces as at once, where it has words", () => {
  const text =
    "The sailors' 12 boats aren't in K\u00f6ln:\n\n\tconst x = call(a, b); \u0434\u043e\u043c \u0434\u043e\u043c\u0430!  \n".repeat(
      1500,
    );
  assert.ok(text.length > 100_000);
  assert.equal(sampled(o200k)(text), o200k(text));
});

test("a run of one character of any length is cut into runs of bounded length", () => {
  for (const unit of ["a", "-", " ", "漢", "😀", "\n"]) {
    const short = o200k(unit.repeat(10_000));
    const long = o200k(unit.repeat(40_000));
    assert.ok(Math.abs(long / short - 4) < 0.1, `${JSON.stringify(unit)}: ${short} and ${long}`);
  }
});

test("[F24] chars per token is 3.3 for Anthropic and 4 otherwise; a family has its prior", () => {
  assert.equal(counterFor({ model: "claude-opus-4-5" }).count("x".repeat(33)), 10);
  assert.equal(counterFor({ provider: "openrouter", model: "anthropic/claude-sonnet-5" }).count("x".repeat(33)), 10);
  assert.equal(counterFor({ provider: "anthropic", model: "my-alias" }).count("x".repeat(33)), 10);
  assert.equal(counterFor({ model: "gpt-5.2" }).count("x".repeat(40)), 10);
  assert.equal(counterFor({ model: "llama-4" }).count("x".repeat(40)), 10);
  assert.ok(counterFor({ model: "claude-opus-4-5" }).prior > 1);
});

test("[F24] the cheap counter stays near the exact one on prose, code, CJK and hashes", () => {
  const hashes = Array.from({ length: 40 }, (_, i) => createHash("sha256").update(`${i}`).digest("hex"));
  const texts = {
    prose: "The build failed again last night, so we looked at the log and found two errors in the parser. ",
    code: "export function total(list: readonly number[]): number {\n  return list.reduce((a, b) => a + b, 0);\n}\n",
    chinese: "昨天晚上的构建又失败了，我们查看日志，发现解析器里有两个错误。",
    japanese: "昨夜のビルドはまた失敗したので、ログを見てパーサーに二つの誤りを見つけた。",
    korean: "어젯밤 빌드가 다시 실패해서 로그를 보고 파서에서 오류 두 개를 찾았습니다.",
    russian: "Сборка снова упала прошлой ночью, и мы нашли в журнале две ошибки в разборе.",
    hashes: hashes.join("\n"),
  };
  const cheap = counterFor({ model: "gpt-5.2" }).count;
  for (const [name, text] of Object.entries(texts)) {
    const ratio = cheap(text) / o200k(text);
    assert.ok(ratio > 0.75 && ratio < 2, `${name}: ${ratio}`);
  }
});

test("a model has its own encoding where that is known", async () => {
  const names = async (model: string) => (await exactCounterFor({ model })).name;
  assert.equal(await names("gpt-4o-mini"), "o200k_base");
  assert.equal(await names("gpt-4.1"), "o200k_base");
  assert.equal(await names("gpt-5.2"), "o200k_base");
  assert.equal(await names("o3-mini"), "o200k_base");
  assert.equal(await names("gpt-4-turbo"), "cl100k_base");
  assert.equal(await names("gpt-4"), "cl100k_base");
  assert.equal(await names("claude-opus-4-5"), "o200k_base");
  assert.equal(await names("mistral-large"), "o200k_base");
});

test("[F28] each model brings the image rule of its own provider", () => {
  assert.equal(counterFor({ model: "claude-opus-4-5" }).imageRule, "anthropic");
  assert.equal(counterFor({ model: "gemini-3-pro" }).imageRule, "google");
  assert.equal(counterFor({ model: "gpt-5.2" }).imageRule, "openai");
});

test("any function of a text is a counter: taken at its word, with the model's own frame around it", async () => {
  const model = { provider: "anthropic.messages", model: "claude-sonnet-4-5" };
  const own = await modelCounter((text) => text.length, model);
  assert.deepEqual([own.count("four"), own.prior, own.imageRule], [4, 1, "anthropic"]);
  assert.deepEqual(own.frame, counterFor(model).frame);
  const whole = { ...counterFor(model), name: "mine" };
  assert.equal(await modelCounter(whole, model), whole);
  assert.equal((await modelCounter(undefined, { model: "gpt-4o" })).name, "o200k_base");
});
