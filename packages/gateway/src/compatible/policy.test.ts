import assert from "node:assert/strict";
import { test } from "node:test";
import { configSchema } from "palimpsest/internal/config";
import { ProblemError } from "../http/problem.ts";
import { isViewSent, lengthRule, policyOf, type RequestPolicy } from "./policy.ts";

const settings = (gateway: object = {}) => configSchema.parse({ gateway });
const DEFAULTS: RequestPolicy = {
  mode: "on",
  compaction: "ours",
  evidence: "off",
  memory: "off",
  tools: "off",
  agentName: "default",
  titleWords: 6,
};

const READ: readonly [string, Record<string, string>, object, Partial<RequestPolicy>][] = [
  ["nothing asked for", {}, {}, {}],
  [
    "the configuration",
    {},
    { mode: "observe", evidence: true, memory: true },
    { mode: "observe", evidence: "on", memory: "on" },
  ],
  ["a header before the configuration", { memory: "off", mode: "on" }, { mode: "off", memory: true }, {}],
  ["memory by header alone", { memory: "on", agent: "Coder" }, {}, { memory: "on", agentName: "coder" }],
  ["the vendor's own compaction", { compaction: "native" }, {}, { compaction: "native" }],
  ["no compaction, by configuration", {}, { compaction: "off" }, { compaction: "off" }],
  ["ours for one request", { compaction: "ours" }, { compaction: "native" }, {}],
];

for (const [name, headers, gateway, expected] of READ)
  test(`what a request asks for: ${name}`, () => {
    const given = new Headers(
      Object.entries(headers).map(([key, value]): [string, string] => [`x-palimpsest-${key}`, value]),
    );
    assert.deepEqual(policyOf(given, settings(gateway), "default"), { ...DEFAULTS, ...expected });
  });

test("a header that can't be meant is refused with what it may be", () => {
  for (const [name, value] of [
    ["mode", "On"],
    ["memory", "yes"],
    ["compaction", "none"],
    ["agent", "../x"],
  ])
    assert.throws(
      () => policyOf(new Headers({ [`x-palimpsest-${name}`]: value! }), settings(), "default"),
      (error) =>
        ProblemError.isInstance(error) && error.problem.status === 400 && error.message.toLowerCase().includes(name!),
    );
});

test("one shortens a prompt, or none does", () => {
  const rows = (["on", "observe", "off"] as const).flatMap((mode) =>
    (["ours", "native", "off"] as const).map(
      (compaction) => [mode, compaction, lengthRule({ mode, compaction })] as const,
    ),
  );
  for (const [mode, compaction, { ours, vendors }] of rows) {
    const isOurs = mode === "on" && compaction === "ours";
    assert.deepEqual([ours, vendors], isOurs ? ["fit", "serve"] : ["pass", "leave"], `${mode}, ${compaction}`);
  }
});

test("erased words stay erased and added ones stay added under every policy; what is hidden is only where it is ours", () => {
  const on = { mode: "on", compaction: "ours" } as const;
  const native = { mode: "on", compaction: "native" } as const;
  const rows = [
    [on, { hidden: false, erased: false, added: false }, false],
    [on, { hidden: true, erased: false, added: false }, true],
    [on, { hidden: false, erased: true, added: false }, true],
    [native, { hidden: true, erased: false, added: false }, false],
    [native, { hidden: true, erased: false, added: true }, true],
    [{ mode: "observe", compaction: "ours" } as const, { hidden: true, erased: false, added: true }, false],
  ] as const;
  for (const [policy, view, expected] of rows) assert.equal(isViewSent(policy, view), expected);
});
