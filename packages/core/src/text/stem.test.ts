import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { stem } from "./words.ts";

const SAME: readonly (readonly string[])[] = [
  ["paint", "painted", "painting", "paints"],
  ["adopt", "adoption", "adopted", "adopting"],
  ["consist", "consistency", "consistent", "consistently"],
  ["go", "went", "gone", "goes", "going"],
  ["child", "children"],
  ["hope", "hoped", "hoping", "hopes"],
];
const PUBLISHED: readonly (readonly [string, string])[] = [
  ["consolation", "consol"],
  ["knackeries", "knackeri"],
  ["knightly", "knight"],
  ["happily", "happili"],
  ["generously", "generous"],
  ["communication", "communic"],
  ["hopped", "hop"],
  ["relational", "relat"],
  ["sensitivity", "sensit"],
  ["succeed", "succeed"],
  ["cries", "cri"],
  ["ties", "tie"],
];

test("the forms of one word have one stem", () => {
  for (const forms of SAME) assert.equal(new Set(forms.map(stem)).size, 1, forms.join(" "));
});

test("stems agree with the algorithm's published examples", () => {
  for (const [word, expected] of PUBLISHED) assert.equal(stem(word), expected, word);
});

test("every lower-case word has a stem that is not empty", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{3,20}$/), (word) => {
      const stemmed = stem(word);
      assert.ok(stemmed.length > 0 && /^[a-z0-9]+$/.test(stemmed));
    }),
  );
});

test("what is not a plain English word comes back as it is", () => {
  for (const word of ["", "ab", "e1234", "naïve", "日本", "src/a.ts"]) assert.equal(stem(word), word);
});
