import assert from "node:assert/strict";
import { test } from "node:test";
import { checkConfig } from "./config-file.ts";

function check(text: string, env: Record<string, string> = {}) {
  const exists = (path: string) => path === "/home/there.mjs";
  return checkConfig(text, { env, home: "/home", exists }).map(({ severity, line, message }) => {
    return `${severity} ${line}: ${message}`;
  });
}

for (const [title, text, expected] of [
  [
    "an address that is no URL, without repeating it",
    "models:\n  - name: a\n    provider: openai-compatible\n    model: m\n    base_url: secret-notaurl\n",
    ["problem 5: models.0.base_url (a) is no URL, for example http://127.0.0.1:11434/v1"],
  ],
  [
    "an embedder without an address, and one without a key",
    "recall: { embedder: { provider: openai-compatible, model: m } }\n",
    ["problem 1: recall.embedder (m) is openai-compatible and needs a base_url, for example http://127.0.0.1:11434/v1"],
  ],
  [
    "openai-compatible without an address",
    "\n\nmodels:\n  - { name: a, provider: openai-compatible, model: m }\n",
    ["problem 4: models.0 (a) is openai-compatible and needs a base_url, for example http://127.0.0.1:11434/v1"],
  ],
  [
    "a key whose variable isn't set, as a warning: another machine may have it",
    "models:\n  - name: a\n    provider: openai\n    model: m\n    api_key: $MY_KEY\n",
    [
      "warning 2: models.0 (a) has no key here: set OPENAI_API_KEY, or the variable its api_key names",
      "warning 5: $MY_KEY is not set in the environment; the key that names it counts as absent",
    ],
  ],
  [
    "a storage nobody knows",
    "memory:\n  storage_class: redis\n",
    ['problem 2: memory.storage_class is "redis": allowed are file, sqlite, postgres or ./module.js#Export'],
  ],
  [
    "a storage's module that isn't there",
    "memory: { storage_class: ./gone.mjs#Store }\n",
    ["problem 1: memory.storage_class can't be loaded: there is no /home/gone.mjs"],
  ],
  ["a storage's module that is there", "memory: { storage_class: ./there.mjs#Store }\n", []],
  [
    "an address of a store that no engine speaks",
    "store:\n  url: mysql://x/y\n",
    ['problem 2: store.url: no store speaks "mysql": give a path, or postgres://user@host/database'],
  ],
  [
    "two models of one name",
    "models:\n  - { name: a, provider: offline, model: m }\n  - { name: a, provider: offline, model: n }\n",
    ['warning 3: models.1.name is "a" again: only the first is used'],
  ],
  [
    "a section that turns compaction off by what it leaves out",
    "title: { max_words: 3 }\nsummarization:\n  trigger: { type: messages, value: 50 }\n",
    ["warning 2: summarization has a trigger but no `enabled: true`: conversations are not compacted by themselves"],
  ],
  [
    "a key that isn't one, at its own line",
    "memory:\n  enabled: true\n  max_fact: 3\n",
    ["problem 3: memory.max_fact is not a key; did you mean max_facts?"],
  ],
] as const)
  test(`config check finds ${title}`, () => assert.deepEqual(check(text), expected));

test("config check names the line of broken YAML, and nothing in a file that works", () => {
  assert.match(check("models:\n  - name: [a\n")[0]!, /^problem \d+: not valid YAML/);
  assert.deepEqual(check("models:\n  - { name: a, provider: openai, model: m }\n", { OPENAI_API_KEY: "k" }), []);
  assert.deepEqual(check(""), []);
});
