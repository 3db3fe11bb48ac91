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
  ...[
    `gsk_${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `xai-${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `r8_${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `lin_api_${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `ntn_${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `figd_${"aB3dE6gH-9jK2mN5p_Q8sT1vW4xY7zA0cD"}`,
    `tvly-dev-${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `dapi${"0123456789abcdef0123456789abcdef"}`,
    `shpat_${"0123456789abcdef0123456789abcdef"}`,
    `hvs.${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"}`,
    `HRKU-${"01234567-89ab-cdef-0123-456789abcdef"}`,
    `AGE-SECRET-KEY-1${"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"}`,
    `MTA${"5ODc2NTQzMjEwOTg3NjU0Mw.GaBcDe.aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cDeFgHiJ"}`,
    `hooks.slack.com/services/T01ABCDEF/B01ABCDEF/${"aB3dE6gH9jK2mN5pQ8sT1vW4"}`,
  ].map((token) => [`it uses ${token} there`, token.slice(-16)] as const),
  ["https://x.blob.example.net/c?sv=2022&sig=aB3dE6gH9jK2mN5pQ8sT1vW4xY7z%3D&se=2027", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z"],
  ["mein Passwort lautet Gr33n-aB3dE6gH", "Gr33n-aB3dE6gH"],
  ["machine x.example login ada password netrcword77", "netrcword77"],
  ["db.example.org:5432:app:ada:pgPass7788", "pgPass7788"],
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
    "the branch feature_login-2026 and the id run_20261118_103000",
    "localhost:5432:app:reads",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "msg_01XFDUDYJgAACzvnptvVoYEL and toolu_01A09q90qw90lq917835lq9",
    "a.b.c.example.com and https://x.example/?sig=on&page=2",
    "the header vercel-deployment-protection-bypass-automation",
    "rnd-quarterly-report-for-the-board-of-directors.pdf",
    "OrganizationUnitNameService1.client.configurationPropertiesForProduction",
  ])
    assert.equal(redactSecrets(text).text, text);
});
