import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { preview, recognize } from "./preview.ts";

const LOG = Array.from({ length: 12_000 }, (_, index) =>
  index === 7_531
    ? "2026-11-15T03:00:00Z ERROR worker 7: connection to shard-12 refused"
    : `2026-11-15T03:00:00Z INFO worker ${index % 9}: handled request ${index} in ${index % 90} ms`,
).join("\n");

const CODE = Array.from(
  { length: 300 },
  (_, index) =>
    `export function step${index}(value: number): number {\n  // one of many\n  return value + ${index};\n}\n`,
).join("\n");

const TABLE = ["id,name,city", ...Array.from({ length: 5000 }, (_, index) => `${index},"Doe, J. ${index}",Bern`)].join(
  "\n",
);

const ROWS = Array.from({ length: 3000 }, (_, id) => ({ id, name: `item ${id}`, tags: ["a", "b"], note: null }));

describe("what an output is", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["an object", JSON.stringify({ a: 1 }), "json"],
    ["a list", "[1, 2, 3]\n", "json"],
    ["lines of JSON", '{"a":1}\n{"a":2}\n{"a":3}\n', "json-lines"],
    ["a table with commas", TABLE, "csv"],
    ["a table with tabs", "a\tb\n1\t2\n3\t4\n5\t6", "csv"],
    ["a log", LOG, "log"],
    ["a test report", "✓ adds\n✓ subtracts\n✗ divides\n✓ multiplies\n", "log"],
    ["TypeScript", CODE, "code"],
    ["Python", 'import os\n\ndef main():\n    print("x")\n\nclass A:\n    def go(self):\n        return 1\n', "code"],
    ["prose", "It was late, and cold.\nNobody came, of course.\nThen, at last, a light.\n", "text"],
    ["broken JSON", '{"a": 1, ', "text"],
    ["nothing", "", "text"],
  ];
  for (const [what, text, kind] of table) {
    it(`${what} is ${kind}`, () => assert.equal(recognize(text).kind, kind));
  }
});

describe("a long output in short", () => {
  const short = (text: string, maxChars = 3000): string => preview(text, { maxChars }).text;

  it("shows the shape and first items of JSON", () => {
    const text = short(JSON.stringify({ total: 3000, rows: ROWS }));
    assert.match(
      text,
      /shape: \{ total: number, rows: \[3000 × \{ id: number, name: string, tags: \[2 × string\], note: null \}\] \}/,
    );
    assert.match(text, /total: 3000/);
    assert.match(short(JSON.stringify(ROWS)), /First items:\n\{"id":0,"name":"item 0"/);
  });

  it("shows header, rows and count of a table", () => {
    const text = short(TABLE);
    assert.match(text, /5000 rows and 3 columns/);
    assert.match(text, /id,name,city\n0,"Doe, J\. 0",Bern\n/);
    assert.match(text, /rows \.\.\.\n4999,/);
  });

  it("shows an outline of code with line numbers", () => {
    const text = short(CODE);
    assert.match(text, /\n1: export function step0\(value: number\): number\n6: export function step1/);
    assert.match(text, /of 300\)?:/);
  });

  it("shows head and tail of a log and its failing line with its number [F50]", () => {
    const text = short(LOG);
    assert.match(text, /^2026-11-15T03:00:00Z INFO worker 0: handled request 0 /);
    assert.match(text, /handled request 11999 /);
    assert.match(text, /line 7532: 2026-11-15T03:00:00Z ERROR worker 7: connection to shard-12 refused/);
  });

  it("finds the failing line of a log that is a field of JSON [F50]", () => {
    const text = short(JSON.stringify({ exitCode: 1, stdout: LOG }));
    assert.match(text, /\$\.stdout: .*connection to shard-12 refused/);
  });

  it("shows all failing lines that fit, the last one always, and how many there are [F50]", () => {
    const few = Array.from({ length: 1000 }, (_, index) =>
      index % 100 === 50 ? `error: number ${index}` : `fine ${index}`,
    );
    for (let index = 50; index < 1000; index += 100)
      assert.match(short(few.join("\n")), new RegExp(`error: number ${index}\\b`));
    const many = Array.from({ length: 9000 }, (_, index) => `error: number ${index}`).join("\n");
    assert.match(short(many), /Failing lines \(9000\), \d+ not shown[\s\S]*line 9000: error: number 8999$/);
  });

  it("is bounded and total for any text", () => {
    const line = fc.oneof(
      fc.string({ maxLength: 400 }),
      fc.constantFrom("error: x", "a,b,c", "{}", '{"a":[1]}', "def x():", ""),
    );
    const anyText = fc.oneof(
      fc.array(line, { maxLength: 200 }).map((lines) => lines.join("\n")),
      fc.json(),
      fc.string(),
    );
    fc.assert(
      fc.property(anyText, fc.integer({ min: 600, max: 6000 }), (text, maxChars) => {
        const { text: shown } = preview(text, { maxChars });
        assert.ok(shown.length <= maxChars * 1.25 + 400, `${shown.length} for ${maxChars}`);
      }),
    );
  });

  it("takes time linear in the text, whatever it is", () => {
    for (const piece of ["a", "{", '"', " ", "\n", "[1,", "error ", "import a from ", "\t"]) {
      assert.ok(short(piece.repeat(1 << 20)).length < 4000, JSON.stringify(piece));
    }
  });
});
