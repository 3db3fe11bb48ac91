import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { analyze, fold, MAX_TERM, normalized, termsIn } from "./analyze.ts";

test("words are lower-cased, stemmed and freed of accents, and stop words are dropped", () => {
  assert.deepEqual(words("The Painters were painting at the CAFÉ"), ["painter", "paint", "cafe"]);
  assert.deepEqual(words("Caroline's dog didn’t bark"), ["carolin", "dog", "bark"]);
  assert.deepEqual(words("ｆｕｌｌ ｗｉｄｔｈ"), ["full", "width"]);
});

test("an identifier is kept whole and its parts stand beside it at a low weight", () => {
  const found = new Map(analyze("getUserName in src/a-b.ts").map((term) => [term.term, term]));
  assert.equal(found.get("src/a-b.ts")?.weight, 1);
  assert.equal(found.get("src/a-b.ts")?.kind, "identifier");
  for (const part of ["get", "user", "name", "src", "ts"]) assert.ok((found.get(part)?.weight ?? 1) < 0.5, part);
  assert.ok(words("getUserName").includes(words("getusername")[0] ?? "-"), "found in any case");
  assert.ok(words("look at src/a-b.ts").includes("a-b.ts"), "found by its base name");
});

test("error codes, versions and addresses stay whole", () => {
  for (const code of ["e1234", "enoent", "v1.2.3", "ts2345", "http_proxy", "a@b.com"]) {
    assert.ok(words(`failed with ${code}.`).includes(code), code);
    assert.ok(words(`failed with ${code.toUpperCase()}, again`).includes(code), code);
  }
});

test("a date in digits also gives the date in words, and numbers lose their commas and endings", () => {
  const terms = words("on 2023-05-08");
  for (const term of ["2023-05-08", "2023", "may", "8"]) assert.ok(terms.includes(term), term);
  assert.deepEqual(words("1,000 on the 8th"), ["1000", "8"]);
});

test("scripts without spaces give pairs of characters", () => {
  assert.ok(words("日本語").includes("日本") && words("日本語").includes("本語"));
  assert.deepEqual(words("テスト"), ["テス", "スト"]);
  assert.deepEqual(words("안녕하"), ["안녕", "녕하"]);
  assert.ok(words("สวัสดี").length >= 2);
  assert.ok(words("Pythonを使う").includes("python"), "a Latin word inside is found");
  assert.ok(words("猫が好き").includes("猫"), "a single character is found");
});

test("vowel signs stay with their word and pointed letters meet unpointed ones", () => {
  assert.deepEqual(words("हिन्दी"), ["हिन्दी"]);
  assert.deepEqual(words("שָׁלוֹם"), words("שלום"));
  assert.deepEqual(words("مَرْحَبًا"), words("مرحبا"));
});

test("every string has terms that any engine can hold", () => {
  const anything = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc
      .array(
        fc.constantFrom("\ud800", "\udc00", "\0", "'", '"', "a_b", "日", "👩‍👩‍👧", "\u202e", "İ", "ﷺ", ".", "/", "A1"),
      )
      .map((list) => list.join("")),
  );
  fc.assert(fc.property(anything, holdable), { numRuns: 500 });
});

test("every character that folding takes apart still gives terms any engine can hold", () => {
  for (let code = 0; code < 0x110000; code += 1) {
    const character = String.fromCodePoint(code);
    if (character.normalize("NFKD") === character) continue;
    for (const text of [character, `a${character}`, `日${character}`, character + character]) holdable(text);
  }
});

test("very long strings are analyzed whole", () => {
  for (const unit of ["a", "日", "x/", "👍", "\ud800", "A1_", "'", "é", "word ", "A", "0123456789abcdef"]) {
    const long = unit.repeat(Math.ceil(100_000 / unit.length));
    for (const text of [long, `_${long}`, `${long}Aa`, `a${long}s`]) holdable(text);
  }
});

test("the same text always has the same terms, however its characters are composed", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("é", "ü", "a", "b", " ", "が", "한", "ñ") }), (text) => {
      assert.deepEqual(words(text.normalize("NFD")), words(text.normalize("NFC")));
    }),
  );
});

function words(text: string): string[] {
  return analyze(text).map(({ term }) => term);
}

function holdable(text: string): void {
  for (const { term, weight, at, end } of analyze(text)) {
    assert.ok(term.length > 0 && term.length <= MAX_TERM);
    assert.ok(term.isWellFormed() && !/[\s"'\p{Cc}]/u.test(term), JSON.stringify(term));
    assert.ok(weight > 0 && weight <= 1);
    assert.ok(at >= 0 && end > at && end <= text.length);
  }
}

test("a word gives the same terms wherever it stands: before a blank, at an end, in brackets", () => {
  const sign = fc.constantFrom(..."abzAZ09_éß日ー🙂©.,:;!?'’-/#@\\\u0301".split(""), "the", "walking", "n't");
  const piece = fc.array(sign, { maxLength: 8 }).map((signs) => signs.join(""));
  const termsOf = (text: string) => analyze(text).map(({ term, kind, weight }) => ({ term, kind, weight }));
  fc.assert(
    fc.property(piece, piece, (one, other) => {
      const apart = [...termsOf(`(${one})`), ...termsOf(`(${other})`)];
      for (const text of [`${one} ${other}`, `${one}\n${other} `, `"${one}" (${other})`])
        assert.deepEqual(termsOf(text), apart);
    }),
  );
});

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

test("terms hold words, names, last steps of paths and pairs of CJK letters", () => {
  const found = termsIn("Read src/main.ts 数据库");
  for (const term of ["read", "src/main.ts", "main.ts", "数据", "据库"]) assert.ok(found.has(term), term);
});
