import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clampConfidence, emptyDocument, parseDocument, readDocument, writeDocument } from "./document.ts";

const DOCUMENT = `{
  "userContext": {
    "workContext": "Software engineer at a startup building AI agents",
    "personalContext": "Prefers Python and functional programming",
    "topOfMind": "Currently debugging LangGraph middleware issues"
  },
  "history": {
    "recentMonths": "Implemented authentication system in March 2024",
    "earlierContext": "Migrated from monolith to microservices in 2023",
    "longTermBackground": "Has been working with LangChain since 2022"
  },
  "facts": [
    {
      "id": "fact-1",
      "content": "User prefers async/await over callbacks",
      "category": "preference",
      "confidence": 0.95,
      "createdAt": "2024-03-15T10:30:00Z",
      "source": "conversation"
    }
  ]
}
`;

test("a documented file loads and is written back byte for byte", () => {
  const read = parseDocument(DOCUMENT);
  assert.equal(read.kind, "document");
  if (read.kind === "document") assert.equal(writeDocument(read.document), DOCUMENT);
});

test("fields that other tools added stay", () => {
  const given = { version: "1.0", ...JSON.parse(DOCUMENT), extra: { a: [1] } };
  given.facts[0].weight = 3;
  const read = readDocument(given);
  assert.ok(read.kind === "document");
  const again = JSON.parse(writeDocument(read.document));
  assert.deepEqual([again.version, again.extra, again.facts[0].weight], ["1.0", { a: [1] }, 3]);
});

test("the layout with user and summary objects is read too", () => {
  const read = readDocument({
    user: { workContext: { summary: "Baker", updatedAt: "2026" }, topOfMind: { summary: "Bread" } },
    history: { recentMonths: { summary: "Opened a shop" } },
    facts: [
      {
        id: "fact_1",
        content: "Likes rye",
        category: "odd category",
        confidence: 0.9,
        createdAt: "2026-01-01",
        source: "t1",
      },
    ],
  });
  assert.ok(read.kind === "document");
  assert.equal(read.document.userContext.workContext, "Baker");
  assert.equal(read.document.history.recentMonths, "Opened a shop");
  assert.equal(read.document.facts[0]!.category, "odd category");
  assert.ok(!("user" in read.document));
});

test("an empty, half-written or foreign text is unreadable, never an empty memory", () => {
  for (const text of ["", "  \n", DOCUMENT.slice(0, 200), "[]", "null", "7", '{"facts": {"a": 1}}']) {
    assert.equal(parseDocument(text).kind, "unreadable", JSON.stringify(text));
  }
});

test("[F65] confidence is clamped, and what is no number can't sort first", () => {
  const cases: [unknown, number][] = [
    [7, 1],
    [-1, 0],
    [Number.NaN, 0],
    ["high", 0],
    ["0.8", 0.8],
    [null, 0],
    [Number.POSITIVE_INFINITY, 1],
    [{}, 0],
    ["", 0],
  ];
  for (const [given, expected] of cases) assert.equal(clampConfidence(given), expected, String(given));
});

test("facts without content go, without an id get one, and two of one id are told apart", () => {
  const read = readDocument({
    facts: [{ content: " " }, { content: "a" }, { id: "x", content: "b" }, { id: "x", content: "c" }, 5, "plain text"],
  });
  assert.ok(read.kind === "document");
  assert.deepEqual(
    read.document.facts.map(({ content }) => content),
    ["a", "b", "c", "plain text"],
  );
  assert.equal(new Set(read.document.facts.map(({ id }) => id)).size, 4);
  assert.equal(read.notes.length, 2);
});

test("any JSON value is read or refused without throwing, and what is read survives being written", () => {
  const shaped = fc.record({
    userContext: fc.jsonValue(),
    history: fc.jsonValue(),
    facts: fc.array(fc.jsonValue()),
    revision: fc.jsonValue(),
    changes: fc.jsonValue(),
    fenced: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), shaped), (value) => {
      const read = readDocument(value);
      if (read.kind === "unreadable") return;
      const again = parseDocument(writeDocument(read.document));
      assert.ok(again.kind === "document");
      assert.equal(writeDocument(again.document), writeDocument(read.document));
    }),
  );
  assert.equal(parseDocument(writeDocument(emptyDocument())).kind, "document");
});
