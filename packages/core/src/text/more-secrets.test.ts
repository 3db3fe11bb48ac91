import assert from "node:assert/strict";
import { test } from "node:test";
import { redactSecrets, secretsIn } from "./secrets.ts";

const key = `pal_${"odpEpNAAZ7iPz21VMm02PfvHNCZawjyltX-2cJ3kgHA"}`;

for (const [text, secret] of [
  [`use ${key} for it`, key],
  ['{\\"client_secret\\": \\"EscJson7788qq\\"}', "EscJson7788qq"],
  ["curl -u admin:CurlPw3344vv https://x.example", "CurlPw3344vv"],
  ["mysql -u root -pMyPw998877 db", "MyPw998877"],
  ["Cookie: session=9f8e7d6c5b4a39281706f5e4d3c2b1a0; theme=dark", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"],
  ["<password>XmlPw2288kk</password>", "XmlPw2288kk"],
  ["| user | password |\n|---|---|\n| adm | TblPw1199nn |", "TblPw1199nn"],
  ["password: |\n  YamlBlock5566pp", "YamlBlock5566pp"],
  [`key **sk-${"proj-**ZbCdEf0123456789AbCdEf0123456789"}`, "ZbCdEf0123456789AbCdEf0123456789"],
  ["card 4000.0566.5566.5556", "4000.0566.5566.5556"],
  ["4242\n4242\n4242\n4242", "4242\n4242\n4242\n4242"],
  ["the password for the server is now Sw0rdf1shBlue9", "Sw0rdf1shBlue9"],
] as const)
  test(`a secret is taken out of ${JSON.stringify(text)}, and known by itself`, () => {
    assert.ok(!redactSecrets(text).text.includes(secret));
    assert.ok(
      secretsIn(text).some((value) => value.includes(secret) || secret.includes(value)),
      JSON.stringify(secretsIn(text)),
    );
  });

for (const [text, secret] of [
  ["\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1aFullW1dth88xx", "FullW1dth88xx"],
  [`sk-proj-\u200b${"AbCdEf0123456789AbCdEf0123456789AbCdEf02"}`, "AbCdEf0123456789AbCdEf0123456789AbCdEf02"],
] as const)
  test(`a secret that is written to be overlooked is known: ${JSON.stringify(text)}`, () => {
    assert.ok(
      secretsIn(text).some((value) => value.includes(secret)),
      JSON.stringify(secretsIn(text)),
    );
  });

test("what only looks like such a form stays", () => {
  for (const text of [
    "ls -u file:line",
    "psql -p 5432",
    "mysql -u root -p db",
    "| user | role |\n|---|---|\n| adm | owner |",
    "<token>[redacted]</token>",
    "the password for the server is unknown",
    "cookie: none",
    "versions 1.2.3.4 and 2026.11.18.2015",
  ])
    assert.equal(redactSecrets(text).text, text);
});
