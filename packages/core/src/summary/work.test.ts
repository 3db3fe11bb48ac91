import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withToolFacts } from "../message/dialects.ts";
import { anyLine, count, type Line, shape, talk } from "./fixtures/conversations.ts";
import { writtenText } from "./tool-calls.ts";
import {
  atOnce,
  byUse,
  extendNames,
  extendWork,
  NO_WORK,
  namesOfAll,
  ownText,
  quotable,
  quoteWork,
  readNames,
  readWork,
  type Work,
} from "./work.ts";

const write = (path: string, content: string): Line => ({ call: "write", args: { path, content }, gives: "ok" });
const edit = (path: string, newText: string): Line => ({
  call: "edit",
  args: { path, oldText: "what was there", newText },
  gives: "ok",
});
const run = (command: string): Line => ({ call: "bash", args: { command }, gives: "ok" });

test("files, edits and commands are remembered, what only reads is not", () => {
  const { parts } = workOf([
    write("a.ts", "one"),
    edit("b.ts", "two"),
    run("make"),
    { call: "read", args: { path: "c" } },
  ]);
  assert.deepEqual(
    parts.map(({ kind, path }) => [kind, path]),
    [
      ["write", "a.ts"],
      ["edit", "b.ts"],
      ["command", null],
    ],
  );
});

test("a file that is written again replaces everything written to it before, a removed one doesn't", () => {
  const lines = [write("a.ts", "one"), edit("a.ts", "two"), write("b.ts", "three")];
  assert.match(quotesOf([...lines, write("a.ts", "four")]), /^((?!one|two)[\s\S])*three[\s\S]*four/);
  assert.match(quotesOf([...lines, run("rm a.ts")]), /one[\s\S]*two/);
});

test("where the model has made nothing with tools, its longer answers are quoted, and only there", () => {
  const options = Array.from({ length: 12 }, (_, index) => `- Flight HAT${100 + index}: departs at 0${index % 9}:30`);
  const said: Line = { says: options.join("\n") };
  const talked = [said, { says: "Sure." }, { call: "find", args: { from: "DEN" }, gives: "none" }];
  assert.match(quotesOf(talked), /said\n~~~\n- Flight HAT100[\s\S]*HAT111/);
  assert.doesNotMatch(quotesOf(talked), /Sure/);
  assert.doesNotMatch(quotesOf([...talked, write("a.ts", "one")]), /HAT100/);
});

test("a call that failed has written nothing", () => {
  const failing = {
    ...shape,
    parts: (message: never) =>
      shape.parts(message).map((part) => (part.kind === "result" ? { ...part, isError: true } : part)),
  };
  assert.deepEqual(extendWork(NO_WORK, talk([write("a.ts", "one")]), failing as typeof shape).parts, []);
});

test("which argument of an unknown tool is written is said by the tool, never guessed", () => {
  const saved: Line = {
    call: "save_note",
    args: { where: "n.md", body: "remember the milk", path: "n.md" },
    gives: "ok",
  };
  assert.deepEqual(workOf([saved]).parts, []);
  const told = withToolFacts(shape, () => ({ act: "write", text: "body" }));
  const [entry] = talk([saved]);
  const call = told.parts(entry!.message).find((part) => part.kind === "call");
  assert.equal(writtenText(call!), "remember the milk");
  assert.equal(extendWork(NO_WORK, talk([saved]), told).parts.length, 1);
});

test("what was touched lately is quoted first, and what nobody has touched for long not at all", () => {
  const idle: Line[] = Array.from({ length: 130 }, () => ({ says: "Hm." }));
  assert.equal(quotesOf([write("a.ts", "one"), ...idle]), "");
  const touched = quotesOf([write("a.ts", "one"), write("b.ts", "two"), ...idle, edit("a.ts", "three")]);
  assert.match(touched, /one[\s\S]*three/);
  assert.doesNotMatch(touched, /two/);
});

test("what is too long for its room is quoted from the top, and says so", () => {
  const file = Array.from({ length: 400 }, (_, line) => `line ${line} of a long file`).join("\n");
  const text = quotesOf([write("a.ts", file), run("make all")], 600);
  assert.match(text, /write a\.ts, its first \d+ of 400 lines\n~~~\nline 0 of a long file\n/);
  assert.match(text, /make all/);
});

test("a long file that was touched last may take all the room", () => {
  const long = (name: string): string =>
    Array.from({ length: 60 }, (_, index) => `line ${index} of ${name}`).join("\n");
  const quotes = quotesOf([write("b.ts", long("b")), write("a.ts", long("a"))], 400);
  assert.ok(quotes.includes(long("a")), quotes);
});

test("for any conversation: within the limit, verbatim, the same however it is divided", () => {
  fc.assert(
    fc.property(
      fc.array(anyLine, { maxLength: 25 }),
      fc.nat(20),
      fc.integer({ min: 0, max: 800 }),
      (lines, at, limit) => {
        const entries = talk(lines);
        const whole = extendWork(NO_WORK, entries, shape);
        // A call and its results are never parted by a compaction.
        const cut = entries.findIndex(({ message }, index) => index >= at && shape.role(message) === "user");
        const first = extendWork(NO_WORK, entries.slice(0, Math.max(0, cut)), shape);
        const stored = readWork(JSON.parse(JSON.stringify(first)));
        assert.deepEqual(extendWork(stored, entries.slice(Math.max(0, cut)), shape), whole);
        const texts = new Map(quotable(whole).map((part) => [part, textOf(entries, part)]));
        const { text, tokens } = quoteWork(whole, { maxTokens: limit, count, text: (part) => texts.get(part) ?? null });
        assert.ok(tokens <= limit + 8, `${tokens} of ${limit}`);
        for (const [, quoted] of text.matchAll(/^~~~+\n([\s\S]*?)\n~~~+$/gm))
          assert.ok(
            [...texts.values()].some((said) => said?.startsWith(quoted!)),
            quoted,
          );
      },
    ),
    { numRuns: 200 },
  );
});

function workOf(lines: readonly Line[]): Work {
  return extendWork(NO_WORK, talk(lines), shape);
}

function quotesOf(lines: readonly Line[], maxTokens = 2000): string {
  const entries = talk(lines);
  const work = extendWork(NO_WORK, entries, shape);
  return quoteWork(work, { maxTokens, count, text: (part) => textOf(entries, part) }).text;
}

function textOf(entries: ReturnType<typeof talk>, { seq, part }: { seq: number; part: number }): string | null {
  return ownText(shape.parts(entries.find((entry) => entry.seq === seq)!.message)[part]);
}

test("what the assistant used in most messages comes first, what was seen once last", () => {
  const names = atOnce(
    extendNames(
      [],
      talk([
        { user: "Look at ZFA04Y and at src/main.ts" },
        { call: "get", args: { id: "ZFA04Y" }, gives: '{"flight_number": "HAT136", "amount": "1530.25"}' },
        { says: "ZFA04Y is on HAT136." },
      ]),
      shape,
    ),
  );
  const order = byUse(names).map(([name]) => name);
  assert.deepEqual(order.slice(0, 2), ["ZFA04Y", "HAT136"]);
  assert.deepEqual(new Set(order), new Set(["ZFA04Y", "HAT136", "src/main.ts", "1530.25"]));
});

test("a path stands as it was written", () => {
  const names = atOnce(extendNames([], talk([{ says: "It imports ../tui/footer.js." }]), shape));
  assert.deepEqual(names, [["../tui/footer.js", 1, 1]]);
});

test("for any conversation: bounded, and counted on as if it had been read at once", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 25 }), fc.nat(25), (lines, at) => {
      const entries = talk(lines);
      const whole = atOnce(extendNames([], entries, shape));
      const first = readNames(JSON.parse(JSON.stringify(atOnce(extendNames([], entries.slice(0, at), shape)))));
      assert.deepEqual(atOnce(extendNames(first, entries.slice(at), shape)), whole);
      assert.ok(whole.reduce((sum, [name]) => sum + name.length + 2, 0) <= 6000);
    }),
    { numRuns: 100 },
  );
});

test("names are read in steps of one text each", () => {
  const entries = talk(
    Array.from({ length: 40 }, (_, index) => ({ says: `It is boat${index} of ${"words ".repeat(100)}` })),
  );
  const steps = [...extendNames([], entries, shape), ...namesOfAll(entries, shape)];
  assert.ok(steps.length >= 2 * entries.length, `${steps.length}`);
});
