import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fold } from "./analyze.ts";
import { normalized } from "./normalized.ts";

test("text whose runs of marks are short is normalized as the engine does it", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "e\u0301", "\u0301", "\u0327", "\ufdfa", "\u6f22", " ") });
  fc.assert(
    fc.property(text, (some) => {
      fc.pre(!/\p{M}{31}/u.test(some));
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const)
        assert.equal(normalized(some, form), some.normalize(form));
    }),
  );
});

test("of a long run of combining marks only the first thirty are kept", () => {
  const marks = "\u0327\u0301".repeat(40);
  assert.equal(normalized(`a${marks}b`, "NFD"), `a${marks.slice(0, 30)}b`.normalize("NFD"));
});

test("a megabyte of marks out of order is folded without sorting them all", () => {
  const signs = "\u093c\u094d".repeat(500_000);
  assert.ok(fold(`\u0915${signs}`).length <= 31);
});
