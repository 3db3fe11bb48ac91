import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import { playPrompts } from "./play-prompts.ts";
import { holds, probesOf, requestsOf } from "./probes.ts";
import { meterOf, type Sender } from "./senders.ts";

const call = (path: string): OpenAiMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [
    { id: path, type: "function", function: { name: "read", arguments: JSON.stringify({ path, limit: 4711 }) } },
  ],
});
const said = (content: string): OpenAiMessage => ({ role: "assistant", content });
const user = (content: string): OpenAiMessage => ({ role: "user", content });
const result = (id: string, content: string): OpenAiMessage => ({ role: "tool", tool_call_id: id, content });

const messages: readonly OpenAiMessage[] = [
  user("Please find out why the parser fails"),
  call("src/parser.ts"),
  result("src/parser.ts", "TypeError: parseLine is not a function\n  const value = parseLine(input, 4711);"),
  said("I see."),
  user("And now?"),
  said("parseLine is missing in src/parser.ts:\n  const value = parseLine(input, 4711);"),
];

test("a path, a name of an error line, a number and a line that come back after enough messages are probes", () => {
  const probes = probesOf(messages, 2).filter(({ at }) => at === 5);
  assert.deepEqual(
    probes.map(({ kind, text, source }) => [kind, text, source]),
    [
      ["path", "src/parser.ts", 1],
      ["error", "parseLine", 2],
      ["number", "4711", 2],
      ["line", "const value = parseLine(input, 4711);", 2],
    ],
  );
  assert.deepEqual(probesOf(messages, 4), []);
});

test("a name or a number is held only as a whole word", () => {
  assert.equal(holds("port 47110", "4711", "number"), false);
  assert.equal(holds("(4711)", "4711", "number"), true);
  assert.equal(holds("unparseLine", "parseLine", "name"), false);
});

test("what is only the end of a longer word is no probe: nothing could ever hold it", () => {
  const order = "Order 4WQ150x costs $1,023.";
  const probes = probesOf([said(order), user("Thanks"), user("And?"), said(order)], 1);
  assert.deepEqual(
    probes.map(({ kind }) => kind),
    ["number", "line"],
  );
});

test("the beginning of each request of the user is asked for, unless it is a word or two", () => {
  assert.deepEqual([...requestsOf(messages).keys()], [0]);
});

test("a list of names is seen but not verbatim, a quoted line is both", async () => {
  const count = (text: string): number => Math.ceil(text.length / 4);
  const place = { window: 1000, meter: meterOf(count), count, systems: [] };
  const probes = Map.groupBy(probesOf(messages, 2), ({ at }) => at);
  const times = messages.map((_, index) => index);
  const session = { name: "made up", messages, times, probes, requests: requestsOf(messages), searches: 0 };
  const asked = { ...session, outputs: times.map(() => null), finds: async () => false };
  const sending = (content: string): Sender => ({
    say: async () => undefined,
    request: async () => ({ messages: [user(content)], compacted: false, calls: [], marks: null }),
    close: async () => undefined,
  });
  const options = {
    place,
    cache: { prices: RELATIVE_PRICES, reads: "marks" },
    missing: "leave",
    search: false,
  } as const;
  const listed = await playPrompts(asked, sending("parseLine, 4711, src/parser.ts"), options);
  assert.deepEqual(
    [listed.seen, listed.strict],
    [
      { of: 4, held: 3 },
      { of: 4, held: 0 },
    ],
  );
  const quoted = await playPrompts(asked, sending("It said:\n  const value = parseLine(input, 4711);"), options);
  assert.deepEqual(
    [quoted.seen, quoted.strict],
    [
      { of: 4, held: 3 },
      { of: 4, held: 3 },
    ],
  );
});
