import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Part, Shape } from "../message/shape.ts";
import { type CountText, charsPerToken, countMessage, createMeter, sampled } from "./counter.ts";

/** Messages that are their parts: the counter asks a shape for nothing else. */
const shape: Pick<Shape<Part[]>, "parts"> = { parts: (message) => message };
const chars = charsPerToken(1);

const image: Part = { kind: "image", mediaType: null, source: { kind: "url", url: "https://example.org/a.png" } };

test("[F25] reasoning, call arguments, results, images, files and unknown blocks all count", () => {
  const empty = countMessage([], shape, chars);
  const parts: [Part, number][] = [
    [{ kind: "text", text: "x".repeat(100) }, 100],
    [
      { kind: "reasoning", text: "x".repeat(100), signature: "s".repeat(5000), signedBy: "anthropic", redacted: false },
      100,
    ],
    [{ kind: "reasoning", text: "", signature: "s".repeat(600), signedBy: "anthropic", redacted: true }, 100],
    [{ kind: "call", id: "1", name: "read", input: "x".repeat(96) }, 100],
    [{ kind: "result", id: "1", name: null, text: "x".repeat(100), isError: false, images: [] }, 100],
    [{ kind: "result", id: "1", name: null, text: "", isError: false, images: [image as never] }, 1600],
    [image, 1600],
    [{ kind: "file", mediaType: "text/plain", name: "a", data: "x".repeat(100), encoding: "text", ref: null }, 100],
    [
      { kind: "file", mediaType: "application/pdf", name: null, data: "x".repeat(300), encoding: "base64", ref: null },
      100,
    ],
    [{ kind: "other", type: "x", json: "x".repeat(100) }, 100],
  ];
  for (const [part, least] of parts) {
    const tokens = countMessage([part], shape, chars) - empty;
    assert.ok(tokens >= least && tokens <= least + 20, `${part.kind}: ${tokens} for ${least}`);
  }
});

test("a frame charges each call and each of its arguments, also in JSON that doesn't parse", () => {
  const frame = { message: 1, call: 100, argument: 10, result: 0, inputs: "json" } as const;
  const meter = createMeter(shape, { counter: () => 0, frame });
  const call = (input: string): Part[] => [{ kind: "call", id: "1", name: "edit", input }];
  assert.equal(meter.message(call('{"path": "a:b", "edits": [{"old": 1, "new": 2}]}')), 121);
  assert.equal(meter.message(call("{}")), 101);
  assert.equal(meter.message(call('{"path": "unfinished \\": str')), 111);
});

test("[F25] a provider that reads plain arguments is charged for the text and not for its escapes", () => {
  const text = 'first "line"\n\tsecond \\ line \u2028 é';
  const frame = { message: 0, call: 0, argument: 0, result: 0 };
  const input = JSON.stringify({ text }).replace("é", "\\u00e9");
  const message: Part[] = [{ kind: "call", id: "1", name: "", input }];
  const length = (inputs: "json" | "plain") =>
    createMeter(shape, { counter: (value) => value.length, frame: { ...frame, inputs } }).message(message);
  assert.equal(length("json"), input.length);
  assert.equal(length("plain"), '{"text":""}'.length + text.length);
});

test("[F23] the meter counts system prompt and tool schemas with the same counter", () => {
  const meter = createMeter(shape, { counter: chars });
  assert.ok(meter.system("x".repeat(50)) >= 50);
  assert.equal(meter.system(""), 0);
  const schema = { name: "read", description: "Reads a file.", parameters: { type: "object" } };
  assert.ok(meter.tools([schema, schema]) >= 2 * JSON.stringify(schema).length);
});

test("a meter's cached counts equal a recount, for any messages in any order", () => {
  fc.assert(
    fc.property(fc.array(arbitraryMessage()), fc.array(fc.nat()), (messages, picks) => {
      const meter = createMeter(shape, { counter: charsPerToken(3.3) });
      const asked = picks.map((pick) => messages[pick % Math.max(1, messages.length)] ?? []);
      for (const message of asked) meter.message(message);
      const recount = messages.reduce((sum, message) => sum + countMessage(message, shape, charsPerToken(3.3)), 0);
      assert.equal(meter.messages(messages), recount);
      assert.equal(meter.messages(messages), recount);
    }),
  );
});

test("a second count asks the counter nothing about messages it has seen", () => {
  let asked = 0;
  const counter = (text: string) => {
    asked += 1;
    return text.length;
  };
  const meter = createMeter(shape, { counter });
  const messages: Part[][] = Array.from({ length: 100 }, (_, i) => [{ kind: "text", text: `message ${i}` }]);
  meter.messages(messages);
  assert.equal(asked, 100);
  meter.messages([...messages, [{ kind: "text", text: "one more" }]]);
  assert.equal(asked, 101);
});

test("in steps at most one text is counted at a time, and what the steps have counted isn't counted again", () => {
  fc.assert(
    fc.property(fc.array(arbitraryMessage()), (messages) => {
      let asked = 0;
      const counter = (text: string) => {
        asked += text.length > 2 ? 1 : 0;
        return text.length;
      };
      const meter = createMeter(shape, { counter });
      const schema = { name: "read" };
      for (const _ of meter.steps(messages, [schema])) {
        assert.ok(asked <= 1, `${asked}`);
        asked = 0;
      }
      const sizes = messages.map((message) => meter.parts(message));
      meter.messages(messages);
      meter.tools([schema]);
      assert.equal(asked, 0);
      assert.deepEqual(
        sizes.map((parts) => parts.length),
        messages.map((parts) => parts.length),
      );
    }),
  );
});

test("a message counts at least as much with one part more", () => {
  fc.assert(
    fc.property(arbitraryMessage(), arbitraryMessage(), (message, more) => {
      const before = countMessage(message, shape, charsPerToken(4));
      assert.ok(countMessage([...message, ...more], shape, charsPerToken(4)) >= before);
    }),
  );
});

function arbitraryMessage(): fc.Arbitrary<Part[]> {
  const text = fc.string({ unit: "grapheme", maxLength: 40 });
  return fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("text" as const), text }),
      fc.record({
        kind: fc.constant("reasoning" as const),
        text,
        signature: fc.option(text),
        signedBy: fc.constant(null),
        redacted: fc.boolean(),
      }),
      fc.record({ kind: fc.constant("call" as const), id: text, name: text, input: text }),
      fc.record({
        kind: fc.constant("image" as const),
        mediaType: fc.constant(null),
        source: fc.record({ kind: fc.constant("base64" as const), data: fc.base64String() }),
      }),
      fc.record({ kind: fc.constant("other" as const), type: text, json: text }),
    ),
    { maxLength: 5 },
  );
}

test("ordinary text is its length over the rate, rounded up", () => {
  assert.equal(charsPerToken(4)("12345"), 2);
  assert.equal(charsPerToken(3.3)("x".repeat(33)), 10);
  assert.equal(charsPerToken(4)("const answerReserve2 = getWindow(1024) / 8;\n".repeat(4)), 44);
  assert.equal(charsPerToken(4)(""), 0);
});

test("a rate that makes no sense is refused", () => {
  assert.throws(() => charsPerToken(0), RangeError);
  assert.throws(() => charsPerToken(Number.NaN), RangeError);
});

test("[F24] CJK, other scripts and hashes are denser than the rate", () => {
  const count = charsPerToken(4);
  assert.equal(count("漢字仮名交じり文"), 8);
  assert.equal(count("한국어"), 3);
  assert.equal(count("😀"), 2);
  assert.equal(count("привет"), 3);
  assert.equal(count("9e107d9d372bb6826bd81d3542a419d6"), 16);
});

test("a longer text never counts less, and none counts less than its length over the rate", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, text, fc.double({ min: 0.5, max: 8, noNaN: true }), (first, second, rate) => {
      const count = charsPerToken(rate);
      assert.ok(count(`${first} ${second}`) >= count(first));
      assert.ok(count(first) >= Math.floor(first.length / rate));
    }),
  );
});

test("a text of megabytes is counted by a bounded part of it, and comes to about the same", () => {
  let read = 0;
  const exact = charsPerToken(4);
  const counting = sampled((text) => {
    read += text.length;
    return exact(text);
  });
  const text = Array.from({ length: 200_000 }, (_, index) => `word ${index} 漢字 `).join("");
  const share = counting(text) / exact(text);
  assert.ok(share > 0.97 && share < 1.03, `${share}`);
  assert.ok(read <= 128_000, `${read}`);
});

test("a text up to 128,000 characters is counted whole, in pieces that cut no word", () => {
  const words: CountText = (text) => text.match(/ ?\p{L}+/gu)?.length ?? 0;
  const text = "Sailors' boats lie in the harbor of K\u00f6ln, \u0434\u043e\u043c\u0430.\n".repeat(2500);
  assert.equal(sampled(words)(text), words(text));
});

test("one long text is counted in steps of a bounded length, whatever stands in it", () => {
  for (const text of [
    "word ".repeat(25_000),
    "\u6f22".repeat(120_000),
    "\u{1f600}".repeat(60_000),
    "a@".repeat(1_000_000),
  ]) {
    let asked = 0;
    const meter = createMeter(shape, {
      counter: (piece) => {
        asked += piece.length;
        return piece.length;
      },
    });
    for (const _ of meter.steps([[{ kind: "text", text }]], [{ description: text.slice(0, 120_000) }])) {
      assert.ok(asked <= 16_000, `${text.slice(0, 2)}: ${asked}`);
      asked = 0;
    }
  }
});

test("a long text that is counted again isn't read again", () => {
  let reads = 0;
  const count = sampled((text) => {
    reads += 1;
    return charsPerToken(4)(text);
  });
  for (const length of [15_000, 200_000]) {
    const text = "words ".repeat(length);
    const first = count(text);
    const before = reads;
    assert.deepEqual([count(`${text}`), count("words ".repeat(length)), reads], [first, first, before]);
    assert.notEqual(count(`${text} and more of them${text.slice(0, 1000)}`), first);
  }
});
