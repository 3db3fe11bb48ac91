import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NEAR_MISSES, SECRETS } from "./fixtures/secrets.ts";
import { maskSecrets, redactSecrets } from "./secrets.ts";

test("[F67] secrets are taken out and look-alikes stay: precision and recall on the fixture", (t) => {
  const missed = SECRETS.filter(([text, secret]) => redactSecrets(text).text.includes(secret));
  const wrong = NEAR_MISSES.filter((text) => redactSecrets(text).text !== text);
  const hits = SECRETS.length - missed.length;
  const recall = hits / SECRETS.length;
  const precision = hits / (hits + wrong.length);
  t.diagnostic(
    `precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} on ${SECRETS.length} + ${NEAR_MISSES.length}`,
  );
  assert.ok(recall >= 0.97, `missed: ${JSON.stringify(missed)}`);
  assert.ok(precision >= 0.97, `wrongly redacted: ${JSON.stringify(wrong)}`);
});

test("[F67] what stands around a secret stays: the setting's name, the host", () => {
  assert.equal(redactSecrets("DB_PASSWORD=Tr0ub4dor!").text, "DB_PASSWORD=[redacted password]");
  assert.equal(
    redactSecrets("postgres://admin:hunter2@db.example.com/app").text,
    "postgres://[redacted connection-string]@db.example.com/app",
  );
});

test("redacting is total, and doing it twice changes nothing", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(...SECRETS.map(([text]) => text)),
    fc.constantFrom(...NEAR_MISSES),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
      const once = redactSecrets(pieces.join(" ")).text;
      assert.equal(redactSecrets(once).text, once);
    }),
  );
});

test("a long text without an end is read in linear time", () => {
  for (const text of [
    "abandon ".repeat(20_000),
    "password is ".repeat(10_000),
    `passphrase is${" ".repeat(50_000)}x`,
    "DE89 ".repeat(20_000),
    "4".repeat(50_000),
    "password".repeat(10_000),
    "a:".repeat(30_000),
    "://:".repeat(20_000),
    "eyJ".repeat(20_000),
  ]) {
    assert.equal(typeof redactSecrets(text).text, "string");
  }
});

for (const [text, shown] of [
  ["Incorrect API key provided: sk-ab***********9xyz.", "Incorrect API key provided: [secret]"],
  ["token glpat-abcdefghij0123456789 refused", "token [secret] refused"],
  ['{"api_key": "plain-words"}', '{"api_key": "[secret]"}'],
  ["connect postgres://svc:pass@10.0.0.5/prod", "connect postgres://svc:[secret]@10.0.0.5/prod"],
  [
    "GET https://u:pw@x.example/v1?key=plain&page=2 failed",
    "GET https://u:[secret]@x.example/v1?key=[secret]&page=2 failed",
  ],
  ["no URL: http://x.example/mcp?access_token=abc", "no URL: http://x.example/mcp?access_token=[secret]"],
  ["a monkey-business error at src/key.ts", "a monkey-business error at src/key.ts"],
] as const)
  test(`an error that says "${text}" is logged without its secret`, () => {
    assert.equal(maskSecrets(text), shown);
  });
