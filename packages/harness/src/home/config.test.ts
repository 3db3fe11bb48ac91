import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  SettingsError,
  summarizationForThreads,
  summarizationFromFile,
  summarizationFromOptions,
} from "../compaction/summarization.ts";
import { BASH, GENERAL_PURPOSE, subagentsFromConfig } from "../features/subagents/spec.ts";
import { lightweightModel, resolveModel } from "../models/resolve.ts";
import { loadConfig, parseConfig } from "./config.ts";
import { DOCUMENTED_BLOCKS } from "./fixtures/documented-blocks.ts";

const parse = (text: string, env: Record<string, string> = {}) => parseConfig(text, { env });

function config(text: string, env: Record<string, string> = {}) {
  const parsed = parse(text, env);
  assert.equal(parsed.kind, "config", JSON.stringify(parsed));
  return parsed.kind === "config" ? parsed : assert.fail();
}

function problems(text: string): string {
  const parsed = parse(text);
  return parsed.kind === "invalid" ? parsed.problems.join("\n") : assert.fail(`${text} loaded`);
}

for (const { from, text, under } of DOCUMENTED_BLOCKS) {
  test(`DeerFlow's documented block loads unchanged: ${from}`, () => {
    const parsed = parseConfig(text, under === undefined ? { env: {} } : { env: {}, under });
    assert.equal(parsed.kind, "config", JSON.stringify(parsed));
    if (parsed.kind === "config") summarizationFromFile(parsed.config.summarization);
  });
}

test("an empty file is the documented defaults", () => {
  const { summarization, memory, subagents } = config("").config;
  assert.deepEqual(summarization.keep, { type: "messages", value: 20 });
  assert.equal(summarization.trim_tokens_to_summarize, 4000);
  assert.equal(summarization.reserved_output_tokens, 4096);
  assert.equal(summarization.fallback_context_window, 32768);
  assert.equal(summarization.summary_format, "pair");
  assert.equal(summarization.max_summarizer_calls, 8);
  assert.deepEqual([memory.enabled, memory.injection_enabled, memory.storage_path], [true, true, "memory.json"]);
  assert.deepEqual([memory.debounce_seconds, memory.max_facts, memory.fact_confidence_threshold], [30, 100, 0.7]);
  assert.deepEqual([memory.max_injection_tokens, memory.evidence_tokens], [2000, 1000]);
  assert.deepEqual([subagents.max_turns, subagents.max_concurrent], [20, 3]);
});

test("compaction is on unless the section says otherwise; a trigger without enabled leaves it off, and says so", () => {
  for (const text of ["", "models: [{name: a, provider: offline, model: m}]\n", "memory: {enabled: false}\n"]) {
    const { config: loaded, warnings } = config(text);
    assert.deepEqual([loaded.summarization.enabled, warnings], [true, []], text);
    const { automatic, policy } = summarizationForThreads(loaded.summarization);
    assert.deepEqual([automatic, policy.trigger], [true, [{ type: "fraction", value: 0.85 }]]);
  }
  for (const section of ["{}", "{low_water: 0.5}", "{drafts: false}", "{keep: {type: messages, value: 5}}"]) {
    const { config: loaded, warnings } = config(`summarization: ${section}\n`);
    assert.deepEqual([loaded.summarization.enabled, warnings], [true, []], section);
    const { automatic, policy } = summarizationForThreads(loaded.summarization);
    assert.deepEqual([automatic, policy.trigger], [true, [{ type: "fraction", value: 0.85 }]]);
  }
  const silent = config("summarization: {trigger: {type: messages, value: 50}}\n");
  assert.equal(silent.config.summarization.enabled, false);
  assert.match(silent.warnings.join(), /summarization has a trigger but no `enabled: true`: .* not compacted/);
  const said = config("summarization: {enabled: false}\n");
  assert.deepEqual([said.config.summarization.enabled, said.warnings], [false, []]);
});

test("an agent's own defaults are the fractions' ones, and it keeps what fits where nobody said how much", () => {
  const { policy, ...rest } = summarizationFromOptions();
  assert.deepEqual(policy.trigger, [{ type: "fraction", value: 0.85 }]);
  assert.equal(policy.keep, null);
  const ceilings = (messages: number, fraction: number) => [
    { type: "messages", value: messages },
    { type: "fraction", value: fraction },
  ];
  assert.deepEqual(summarizationFromOptions({ triggerFraction: 0.75 }).policy.keep, ceilings(6, 0.25));
  assert.deepEqual(summarizationFromOptions({ keepRecentMessages: 10 }).policy.keep, ceilings(10, 0.25));
  assert.deepEqual(summarizationFromOptions({ keepRecentFraction: 0.5 }).policy.keep, ceilings(6, 0.5));
  assert.deepEqual(
    [rest.fallbackContextWindow, rest.reservedOutputTokens, rest.trimTokensToSummarize],
    [32768, 4096, null],
  );
});

test("the two spellings of an agent's options can't be mixed", () => {
  assert.throws(
    () => summarizationFromOptions({ keep: { type: "messages", value: 3 }, triggerFraction: 0.5 }),
    SettingsError,
  );
});

for (const [what, options, why] of [
  ["an empty trigger", { trigger: [] }, /trigger is an empty list: give a threshold such as/],
  ["an empty place in a trigger", { trigger: [null as never] }, /trigger null is no threshold: give one such as/],
  ["a keep that is a number", { keep: 20 as never }, /keep 20 is no threshold: give one such as/],
  [
    "an unknown format",
    { summaryFormat: "xml" as never },
    /summary_format "xml" is not known: it must be pair, user or system/,
  ],
  ["drafts in words", { drafts: "no" as never }, /drafts "no" must be true or false/],
  ["an empty keep", { keep: [] }, /keep is an empty list: give one threshold, or at least one ceiling/],
  ["a negative reserve", { reservedOutputTokens: -5 }, /reservedOutputTokens -5 must be a whole number above 0/],
  ["no fallback window", { fallbackContextWindow: 0 }, /fallbackContextWindow 0 must be a whole number above 0/],
  ["half a call", { maxSummarizerCalls: 0.5 }, /maxSummarizerCalls 0.5 must be a whole number above 0/],
  [
    "no tokens per call",
    { trimTokensToSummarize: 0 },
    /trimTokensToSummarize 0 must be a whole number above 0, or null/,
  ],
  ["a summary of nothing", { maxSummaryTokens: -1 }, /maxSummaryTokens -1 must be a whole number above 0, or null/],
  ["a negative gain", { prune: { minGainTokens: -1 } }, /prune.minGainTokens -1 must be a whole number from 0 on/],
  [
    "words as a unit",
    { trigger: { type: "words", value: 4 } as never },
    /trigger type "words" .*fraction, tokens or messages/,
  ],
  ["no unit", { keep: { value: 4 } as never }, /keep type undefined .*fraction, tokens or messages/],
] as const) {
  test(`${what} in code is refused with what is allowed`, () => {
    assert.throws(() => summarizationFromOptions(options), why);
    assert.throws(() => summarizationFromOptions(options), SettingsError);
  });
}

for (const [key, why] of [
  ["keep: []", "summarization.keep"],
  ["reserved_output_tokens: -5", "summarization.reserved_output_tokens is -5"],
  ["fallback_context_window: 0", "summarization.fallback_context_window is 0"],
] as const) {
  test(`${key} in a file is refused with its place`, () => {
    assert.ok(problems(`summarization:\n  ${key}\n`).includes(why), problems(`summarization:\n  ${key}\n`));
  });
}

test("drafts are written ahead unless a file or a program says no", () => {
  assert.deepEqual([config("").config.summarization.drafts, summarizationFromOptions().drafts], [true, true]);
  const file = config("summarization: {drafts: false}").config.summarization;
  assert.deepEqual(
    [summarizationFromFile(file).drafts, summarizationFromOptions({ drafts: false }).drafts],
    [false, false],
  );
});

test("enabled without a trigger shows the minimal example", () => {
  assert.match(
    problems("summarization:\n  enabled: true\n"),
    /needs at least one trigger[\s\S]*type: tokens\n {4}value: 4000/,
  );
});

test("an unknown key is named with its path and the nearest known one", () => {
  assert.match(
    problems("summarization:\n  triger:\n    type: tokens\n    value: 1\n"),
    /summarization\.triger .*did you mean trigger\?/,
  );
  assert.match(problems("memroy: {}\n"), /memroy .*did you mean memory\?/);
  assert.match(
    problems("models:\n  - name: a\n    provider: openai\n    model: b\n    api_kee: c\n"),
    /models\.0\.api_kee .*api_key/,
  );
});

for (const [value, why] of [
  ["{type: fraction, value: 1.5}", "at most 1"],
  ["{type: fraction, value: 0}", "summarization.trigger.value is 0"],
  ["{type: tokens, value: -4}", "summarization.trigger.value is -4"],
  ["{type: messages, value: .nan}", "summarization.trigger.value"],
  ["{type: words, value: 4}", 'summarization.trigger.type is "words"'],
  ["[]", "summarization.trigger"],
] as const) {
  test(`a trigger of ${value} is refused with its place`, () => {
    assert.ok(
      problems(`summarization:\n  trigger: ${value}\n`).includes(why),
      problems(`summarization:\n  trigger: ${value}\n`),
    );
  });
}

test("keep at or over the trigger is refused with the way out", () => {
  const file = config(
    "summarization: {enabled: true, trigger: {type: messages, value: 20}, keep: {type: messages, value: 20}}",
  ).config;
  assert.throws(() => summarizationFromFile(file.summarization), /lower keep or raise the trigger/);
});

test("$NAME takes a value from the environment, and an unset one is named without being a value", async () => {
  const text = `models:\n  - {name: a, provider: openai, model: m, api_key: $KEY, base_url: '\${BASE}'}\n`;
  assert.equal(config(text, { KEY: "k", BASE: "http://x" }).config.models[0]?.api_key, "k");
  const unset = config(text, { BASE: "http://x" });
  assert.equal(unset.config.models[0]?.api_key, undefined);
  assert.match(unset.warnings.join(), /\$KEY is not set/);
  for (const load of [resolveModel(unset.config, null, { env: {} }), lightweightModel(unset.config, null, { env: {} })])
    await assert.rejects(load, /\$KEY, which its `api_key` names, is not set/);
});

test("a secret never stands in a problem", () => {
  assert.doesNotMatch(problems("models:\n  - {name: a, provider: openai, model: m, api_key: 12345678}\n"), /12345678/);
});

test("the version may be a string, older is upgraded with a warning, newer is refused", () => {
  assert.equal(config('config_version: "1"\n').config.config_version, 1);
  assert.match(config("config_version: 0\n").warnings.join(), /config upgrade/);
  assert.match(problems("config_version: 99\n"), /newer than/);
  assert.match(problems("config_version: soon\n"), /whole number/);
});

test("broken YAML is named with its line", () => {
  assert.match(problems("memory:\n  enabled: [\n"), /line 2|line 3/);
});

test("a model name that isn't in models loads with a warning", () => {
  assert.match(config("summarization: {model_name: gpt-4o-mini}").warnings.join(), /gpt-4o-mini.*not in models/);
});

test("the file is looked for in the home, the working directory, then its parents", () => {
  const root = mkdtempSync(join(tmpdir(), "palimpsest-config-"));
  try {
    const cwd = join(root, "a", "b");
    const home = join(root, "home");
    mkdirSync(cwd, { recursive: true });
    mkdirSync(home);
    const find = () => loadConfig({ home, cwd, env: {} }).path;
    writeFileSync(join(cwd, "config.yaml"), "title: another program's\n");
    writeFileSync(join(root, "config.yaml"), "config_version: 1\n");
    assert.equal(find(), join(root, "config.yaml"));
    writeFileSync(join(cwd, "config.yaml"), "memory: {max_facts: 9}\n");
    assert.equal(find(), join(cwd, "config.yaml"));
    writeFileSync(join(cwd, "config.yaml"), "workspace: {host_bash: true}\n");
    assert.match(
      JSON.stringify(loadConfig({ home, cwd, env: { HOME: root } })),
      /is not known to be yours.*palimpsest trust/,
    );
    writeFileSync(join(home, "config.yaml"), "memory: {max_facts: 7}");
    const loaded = loadConfig({ home, cwd, env: {} });
    assert.equal(loaded.kind === "config" && loaded.config.memory.max_facts, 7);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("each problem is one line in plain words: what is missing, what is allowed", () => {
  assert.deepEqual(problems("models:\n  - name: a\n    provider: openai\n").split("\n"), [
    "models.0.model is missing: expected string",
  ]);
  const levels = '"debug" | "info" | "warn" | "error" | "silent"';
  assert.equal(problems("log_level: loud\n"), `log_level is "loud": expected one of ${levels}`);
  assert.match(problems("log_level: {memory: loud}\n"), /log_level\.memory is "loud": expected one of "/);
  assert.match(problems("summarization:\n  trigger: many\n"), /trigger is "many": not a form that is allowed here/);
  assert.ok(problems(`models: ${"x".repeat(5000)}\n`).length < 200);
  const broken = parseConfig("models: [\n", { env: {} });
  assert.ok(broken.kind === "invalid" && broken.problems.every((problem) => !problem.includes("\n")));
});

test("aliases that multiply without bound, or hold themselves, are a problem with a sentence", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg", "gh"])
    bomb.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(", ")}]`);
  assert.match(problems(bomb.join("\n")), /aliases can't be followed/);
  assert.match(problems("memory: &m { storage_path: *m }"), /alias stands inside of what it stands for/);
  assert.match(problems("models: &m [ { name: a, deeper: { again: *m } } ]"), /alias stands inside/);
});

test("a variable's value is shown in no problem and no warning, whatever the key", () => {
  const env = { SECRET: "hunter2hunter2" };
  for (const text of ["log_level: $SECRET", "memory: { max_facts: $SECRET }", "models: $SECRET", "title: [$SECRET]"]) {
    const parsed = parse(text, env);
    assert.equal(parsed.kind, "invalid", text);
    assert.doesNotMatch(JSON.stringify(parsed), /hunter2/, text);
  }
  assert.match(JSON.stringify(parse("log_level: $SECRET", env)), /log_level is .{2}\$SECRET/);
  const warned = config("memory: { model_name: $SECRET }", env);
  assert.match(warned.warnings.join(), /memory\.model_name is "\$SECRET"/);
  assert.doesNotMatch(warned.warnings.join(), /hunter2/);
});

test("the limits of a built-in agent may be set alone; another agent says what it is for", () => {
  const built = config("subagents: {agents: {general-purpose: {timeout_seconds: 60}, bash: {max_turns: 3}}}\n").config;
  const [general, bash] = subagentsFromConfig(built).agents;
  assert.deepEqual(
    [general!.timeoutSeconds, general!.description, general!.systemPrompt],
    [60, GENERAL_PURPOSE.description, GENERAL_PURPOSE.systemPrompt],
  );
  assert.deepEqual([bash!.maxTurns, bash!.tools], [3, BASH.tools]);
  assert.match(problems("subagents: {agents: {reviewer: {max_turns: 3}}}\n"), /reviewer\.description: is missing/);
});
