import assert from "node:assert/strict";
import { test } from "node:test";
import { type CommandRun, command, flag, list, text, whole } from "./command/command.ts";
import { readCommandLine } from "./main.ts";

interface Options {
  readonly all?: boolean;
  readonly name?: string;
  readonly limit?: number;
  readonly policy?: readonly string[];
}

const run: CommandRun<Options> = async () => 0;
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

test("an option that can't be meant is named as it was written, whichever way", () => {
  const next = '; "palimpsest try --help" shows its options.';
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["--nope"], 'Unknown option "--nope"'],
    [["--nope=1"], 'Unknown option "--nope"'],
    [["-x"], 'Unknown option "-x"'],
    [["--__proto__"], 'Unknown option "--__proto__"'],
    [["-k", "0", "--nope"], 'Unknown option "--nope"'],
    [["--name"], "Option '--name <value>' argument missing"],
    [["-k"], "Option '-k, --limit <value>' argument missing"],
    [["--all=yes"], "Option '--all' does not take an argument"],
    [["--all="], "Option '--all' does not take an argument"],
    [["--name", "--all"], '--name needs a value, and what follows it begins with "-"'],
    [["-k", "-3"], '-k needs a value, and what follows it begins with "-"'],
  ];
  for (const [args, problem] of cases)
    assert.throws(() => optionsOf(...args), { name: "UsageError", message: problem + next }, args.join(" "));
  const { unknown } = caught(() => optionsOf("--nmae")) as { unknown: { word: string; known: readonly string[] } };
  assert.equal(unknown.word, "--nmae");
  assert.ok(unknown.known.includes("--name") && unknown.known.includes("--home"));
});

test("a value that begins with a dash is joined to its option, and a dash alone is a value", () => {
  assert.deepEqual({ ...(optionsOf("--name=-x") as object) }, { name: "-x" });
  assert.deepEqual({ ...(optionsOf("--name", "-") as object) }, { name: "-" });
  assert.deepEqual({ ...(optionsOf("--name=") as object) }, { name: "" });
  assert.deepEqual({ ...(optionsOf("-k3", "--", "--all") as object) }, { limit: 3 });
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
