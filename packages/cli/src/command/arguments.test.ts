import assert from "node:assert/strict";
import { test } from "node:test";
import { readCommandLine } from "./arguments.ts";
import { command, type Run } from "./command.ts";
import { flag, list, text, whole } from "./options.ts";

interface Options {
  readonly all?: boolean;
  readonly name?: string;
  readonly limit?: number;
  readonly policy?: readonly string[];
}

const run: Run<Options> = async () => 0;
const table = [
  command({
    name: "try",
    summary: "Try",
    examples: ["try FILE"],
    positionals: ["[FILE]"],
    options: {
      all: flag("all"),
      name: text("NAME", "a name"),
      limit: whole("N", { min: 1, short: "k" }, "a number"),
      policy: list("FILE", "files"),
    },
    load: async () => ({ run }),
  }),
];

function optionsOf(...args: readonly string[]): unknown {
  const line = readCommandLine(["try", ...args], table);
  return line.kind === "run" ? line.input.options : line.kind;
}

test("options arrive as what they are: flags, texts, whole numbers, lists", () => {
  assert.deepEqual({ ...(optionsOf("--all", "--name", "7", "-k", "3") as object) }, { all: true, name: "7", limit: 3 });
  assert.deepEqual({ ...(optionsOf("f") as object) }, {});
});

test("an option that stands several times keeps each value as it was written, commas included", () => {
  assert.deepEqual((optionsOf("--policy", "a,b.yaml", "--policy", "c.yaml") as Options).policy, ["a,b.yaml", "c.yaml"]);
});

test("a number that can't be meant is named by what the person wrote", () => {
  assert.throws(() => optionsOf("-k", "0"), /^UsageError: -k must be a whole number of 1 or more, not "0"/);
  assert.throws(() => optionsOf("--limit", "x"), /^UsageError: --limit must be a whole number/);
});
