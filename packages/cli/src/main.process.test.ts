import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { desk, palimpsest } from "../test/binary.ts";
import { commands } from "./commands.ts";

test("--version prints the version and nothing else", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.deepEqual(await palimpsest(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" });
});

test("without a command, and with --help, all commands are listed", async () => {
  for (const args of [[], ["--help"], ["-h"], ["help"]]) {
    const { code, stdout } = await palimpsest(args);
    assert.equal(code, 0);
    for (const { name, summary } of commands) assert.ok(stdout.includes(name) && stdout.includes(summary), name);
  }
});

test("a command's help shows its options", async () => {
  for (const args of [
    ["import", "--help"],
    ["help", "import"],
  ]) {
    const { code, stdout } = await palimpsest(args);
    assert.equal(code, 0);
    assert.match(stdout, /Usage: palimpsest import FILE\|DIR --thread T \[options\]/);
    assert.match(stdout, /--skip-invalid/);
    assert.match(stdout, /--home DIR/);
  }
});

test("a command without --json refuses it and doesn't offer it", async () => {
  for (const { name, positionals, withoutJson } of commands) {
    if (withoutJson === undefined) continue;
    assert.doesNotMatch((await palimpsest(["help", ...name.split(" ")])).stdout, /--json/, name);
    const { code, stderr } = await palimpsest([...name.split(" "), ...positionals.map(() => "x"), "--json"]);
    assert.deepEqual([code, stderr], [2, `palimpsest: ${withoutJson}\n`]);
  }
});

test("a command's help offers a gateway only where the command can work against one", async () => {
  for (const [name, offered] of [
    ["threads", true],
    ["doctor", false],
    ["serve", false],
  ] as const)
    assert.equal(/--server URL.*--key K/s.test((await palimpsest([name, "--help"])).stdout), offered, name);
});

test("bad usage exits with 2 and names the nearest command or option, without a stack trace", async () => {
  for (const [args, said] of [
    [["thraeds"], /Unknown command "thraeds".*Did you mean "threads"\?/],
    [["frobnicate"], /Unknown command "frobnicate"/],
    [["view", "a", "--windw", "5"], /Unknown option "--windw".*Did you mean "--window"\?/],
    [["--jsn"], /Unknown option "--jsn".*Did you mean "--json"\?/],
    [["view", "a", "--window", "-5"], /--window needs a value, and what follows it begins with "-"/],
    [["view"], /T is missing\. Usage: palimpsest view T/],
    [["view", "a", "b"], /"b" is one argument too many/],
    [["view", "a", "--window", "many"], /--window must be a whole number of 1 or more, not "many"/],
    [["view", "a", "--window", "0"], /--window must be a whole number of 1 or more/],
    [["pin", "a", "-1"], /option|SEQ/i],
    [["pin", "a", "x"], /SEQ must be a whole number/],
    [["import"], /FILE\|DIR is missing\. Usage: palimpsest import FILE\|DIR --thread T/],
    [["import", "file"], /--thread/],
    [["fork"], /T is missing\. Usage: palimpsest fork T --at SEQ/],
    [["fork", "a"], /--at/],
    [["threads", "--home"], /--home/],
  ] as const) {
    const { code, stdout, stderr } = await palimpsest(args);
    assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, said);
    assert.doesNotMatch(stderr, /^\s+at /m);
    assert.equal(stdout, "");
  }
});

test("with --json a failure is a document too", async (t) => {
  const { code, document } = await desk(t).json("view", "nobody");
  assert.equal(code, 1);
  assert.equal((document["error"] as { code: string }).code, "missing");
});

test("PALIMPSEST_DEBUG shows where an error comes from", async () => {
  const { stderr } = await palimpsest(["thraeds"], { PALIMPSEST_DEBUG: "1" });
  assert.match(stderr, /^\s+at /m);
});

test("global options may stand before the command, and --home wins over PALIMPSEST_HOME", async (t) => {
  const { home, file } = desk(t);
  const { code, stdout } = await palimpsest(["--home", home, "--json", "threads"], { PALIMPSEST_HOME: file("other") });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { threads: [] });
});

test("an older Node gets one clear sentence", async (t) => {
  const pretend = desk(t).file("old.mjs", 'Object.defineProperty(process.versions, "node", { value: "16.20.2" });');
  const { code, stderr } = await palimpsest(["threads"], {}, ["--import", pretend]);
  assert.equal(code, 1);
  assert.match(stderr, /^palimpsest needs Node 22\.18 or newer, this is 16\.20\.2\. [^\n]+\n$/);
});
