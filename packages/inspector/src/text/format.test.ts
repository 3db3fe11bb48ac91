import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ago, bothEnds, counted, dollars, grouped, line, moment, percent, short, visible } from "./format.ts";

test("figures read as people write them", () => {
  assert.deepEqual([0, 999, 1000, 41_380, 999_400, 1_250_000].map(short), ["0", "999", "1k", "41k", "999k", "1.3M"]);
  assert.deepEqual([0, 0.001, 0.126, 1].map(percent), ["0 %", "< 1 %", "13 %", "100 %"]);
  assert.deepEqual([0, 0.00001, 0.021, 12.3].map(dollars), ["$0", "$0.000010", "$0.0210", "$12.30"]);
  assert.equal(grouped(1234567), "1,234,567");
});

test("a time is told from now", () => {
  const now = new Date("2026-03-04T12:00:00");
  const back = (seconds: number) => ago(new Date(now.getTime() - seconds * 1000).toISOString(), now);
  assert.deepEqual([1, 70, 300, 7200, 100_000, 10 * 86_400].map(back), [
    "just now",
    "1 minute ago",
    "5 minutes ago",
    "2 hours ago",
    "yesterday",
    "Feb 22",
  ]);
  assert.equal(ago("no time", now), "no time");
});

test("of a long text both ends are shown, with what is left out between them", () => {
  assert.equal(bothEnds("short", 5), "short");
  const shown = bothEnds(`echo hello${" ".repeat(20_000)}rm -rf ~`, 6000);
  assert.match(shown, /^echo hello.*… 14,018 characters left out ….*rm -rf ~$/s);
  assert.ok(shown.length < 6100);
});

test("a line has no line ends, nothing hidden, and at most its length", () => {
  assert.equal(line("a\n\n  b\tc"), "a b c");
  assert.equal(line("x".repeat(10), 4), "xxxx…");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const cut = line(text, 10);
      assert.ok([...cut].length <= 11);
      assert.equal(visible(cut), cut);
    }),
  );
});

test("what would hide or turn text is shown as a sign", () => {
  assert.equal(visible("a\u0000b\u001bc\u202ed\n\te\u007f"), "a\u2400b\u241bc\ufffdd\n\te\u2421");
  assert.equal(visible("a\u200bb\u2028c\u2060d\ufeffe"), "a\ufffdb\ufffdc\ufffdd\ufffde");
});

test("a moment among others is a second, a minute or a day, whichever tells them apart", () => {
  const at = new Date(2026, 10, 18, 9, 5, 7).toISOString();
  assert.equal(moment(at, 60_000), "09:05:07");
  assert.equal(moment(at, 3_600_000), "09:05");
  assert.equal(moment(at, 3 * 86_400_000), "Nov 18");
  assert.equal(moment("never", 1), "never");
});

test("one of a thing is singular, none and many are plural", () => {
  assert.deepEqual(
    [counted(0, "request"), counted(1, "request"), counted(2_000, "request")],
    ["0 requests", "1 request", "2,000 requests"],
  );
});
