import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AnthropicMessage, anthropicShape } from "../message/internal.ts";
import { anyLine, bash, type Line, shape, talk } from "./fixtures/conversations.ts";
import { extendLedger, KEPT } from "./ledger.ts";
import { emptyLedger, type Ledger, ledgerText } from "./ledger-lines.ts";

const ledgerOf = (...lines: Line[]): Ledger => extendLedger(emptyLedger(), talk(lines), shape);
const filesOf = (...lines: Line[]) => Object.fromEntries(ledgerOf(...lines).files.map((file) => [file.path, file.did]));

for (const [call, args, expected] of [
  ["read", { path: "a.ts" }, { "a.ts": "r" }],
  ["Read", { file_path: "/x/a.ts" }, { "/x/a.ts": "r" }],
  ["mcp__filesystem__read_file", { path: "a.ts" }, { "a.ts": "r" }],
  ["read_many_files", { paths: ["a.ts", "b.ts"] }, { "a.ts": "r", "b.ts": "r" }],
  ["write_file", { filePath: "a.ts", content: "x" }, { "a.ts": "w" }],
  ["functions.create_file", { filename: "a.ts" }, { "a.ts": "w" }],
  ["str_replace_editor", { command: "view", path: "a.ts" }, { "a.ts": "r" }],
  ["str_replace_editor", { command: "create", path: "a.ts" }, { "a.ts": "w" }],
  ["str_replace_editor", { command: "str_replace", path: "a.ts" }, { "a.ts": "e" }],
  ["MultiEdit", { edits: [{ file_path: "a.ts" }, { file_path: "b.ts" }] }, { "a.ts": "e", "b.ts": "e" }],
  ["delete_file", { target_file: "a.ts" }, { "a.ts": "d" }],
  ["move_file", { source: "a.ts", destination: "b.ts" }, { "a.ts": "m", "b.ts": "w" }],
  [
    "apply_patch",
    { input: "*** Begin Patch\n*** Update File: a.ts\n@@\n*** Add File: b.ts\n*** Delete File: c.ts\n*** End Patch" },
    { "a.ts": "e", "b.ts": "w", "c.ts": "d" },
  ],
  ["edit", '{"path": "a.ts", "newText": "cut off he', { "a.ts": "e" }],
  ["get_weather", { path: "a.ts" }, {}],
] as const)
  test(`${call} with ${JSON.stringify(args).slice(0, 60)} is understood`, () => {
    assert.deepEqual(filesOf({ call, args, gives: "ok" }), expected);
  });

for (const [command, expected] of [
  ["rm -rf build a.ts", { build: "d", "a.ts": "d" }],
  ["cd /repo/src && rm main.ts ../x.ts", { "/repo/src/main.ts": "d", "/repo/x.ts": "d" }],
  ["git mv a.ts b.ts", { "a.ts": "m", "b.ts": "w" }],
  ["mv a.ts b.ts lib/", { "a.ts": "m", "lib/a.ts": "w", "b.ts": "m", "lib/b.ts": "w" }],
  ["cp 'my file.ts' copy.ts", { "copy.ts": "w" }],
  ["echo hi > out.txt 2>&1", { "out.txt": "w" }],
  ["make 2> err.log >> all.log", { "err.log": "w", "all.log": "w" }],
  ["ls > /dev/null", {}],
  ["npm test | tee -a log.txt", { "log.txt": "w" }],
  ["sed -i '' 's|a > b|c|g' a.ts b.ts", { "a.ts": "e", "b.ts": "e" }],
  ["sed -i.bak -e 's/a/b/' a.ts", { "a.ts": "e" }],
  ["sed -n '1,20p' a.ts", { "a.ts": "r" }],
  ["perl -pi -e 's/a/b/' a.ts", { "a.ts": "e" }],
  ["cat <<'EOF' > a.ts\nrm b.ts\necho x > c.ts\nEOF\ntouch d.ts", { "a.ts": "w", "d.ts": "w" }],
  ["head -n 20 a.ts", { "a.ts": "r" }],
  ['for f in *.ts; do sed -i "s/a/b/" "$f"; done', {}],
  ["FOO=1 sudo rm a.ts # rm b.ts", { "a.ts": "d" }],
  ["git checkout -- a.ts", { "a.ts": "e" }],
  ["(cd sub; rm a.ts)", { "sub/a.ts": "d" }],
] as const)
  test(`the file effects of \`${command.split("\n")[0]}\` are seen`, () => {
    assert.deepEqual(filesOf(bash(command, "")), expected);
  });

test("the order of acts tells how a file stands", () => {
  assert.deepEqual(filesOf(bash("touch a"), bash("rm a"), { call: "write", args: { path: "a" }, gives: "ok" }), {
    a: "dw",
  });
});

for (const [output, exit] of [
  ["boom\nCommand exited with code 2", 2],
  ["Exit code: 1\nno", 1],
  ['{"output":"x","exit_code":127}', 127],
  ["<returncode>3</returncode>", 3],
  ["fine\n[exit: 0]", 0],
  ["Process exited with code 0", 0],
  ["Command failed with exit code 12.", 12],
  ["set -e\n  exit 1\nprocess.exitCode = 2;\n  exitCode: 3,", null],
  ["all is well", null],
] as const)
  test(`the exit code of ${JSON.stringify(output)} is ${exit}`, () => {
    const [entry] = ledgerOf(bash("make", output)).commands;
    assert.equal(entry?.exit, exit);
    assert.equal(entry?.fails, exit === null || exit === 0 ? 0 : 1);
  });

test("[F50] a failing command keeps its failing lines, wherever they stand in its output", () => {
  const noise = Array.from({ length: 500 }, (_, index) => `compiling module ${index}`).join("\n");
  const output = `${noise}\nsrc/a.ts(9,1): error TS2304: Cannot find name 'join'.\n${noise}\nCommand exited with code 2`;
  const [entry] = ledgerOf(bash("npm run build", output)).commands;
  assert.deepEqual(entry?.lines, ["src/a.ts(9,1): error TS2304: Cannot find name 'join'."]);
});

test("a test run behind a pipe fails by what it prints", () => {
  const [entry] = ledgerOf(bash("npm test 2>&1 | head -5", "FAIL src/a.test.ts\n1 failed, 3 passed")).commands;
  assert.deepEqual([entry?.kind, entry?.last, entry?.failed, entry?.passed], ["test", "failed", 1, 3]);
});

test("a command run again is one entry that says how it ended last", () => {
  const [entry, ...others] = ledgerOf(bash("npm test", "3 failed, 1 passed"), bash("npm test", "4 passed")).commands;
  assert.deepEqual([entry?.times, entry?.fails, entry?.last, entry?.seqs, others.length], [2, 1, "passed", [1, 4], 0]);
});

test("an edit that was refused is a failure and not an edit", () => {
  const ledger = ledgerOf({ call: "edit", args: { path: "a.ts" }, gives: "Could not find the exact text in a.ts." });
  assert.deepEqual(ledger.files, []);
  assert.equal(ledger.commands[0]?.what, "edit a.ts");
});

test("commits keep their subject and hash; a failed commit is none", () => {
  const message = `git add -A && git commit -m "$(cat <<'EOF'\nFix the parser\n\nLong text\nEOF\n)"`;
  const ledger = ledgerOf(
    bash(message, "[main 3f30550] Fix the parser\n 1 file changed"),
    bash('git commit -m "No"', "nothing to commit\nexit code 1"),
  );
  assert.deepEqual(ledger.commits, [{ message: "Fix the parser", hash: "3f30550", seq: 1 }]);
});

test("an error flag of the provider makes a failure without an exit code", () => {
  const messages: AnthropicMessage[] = [
    {
      role: "assistant" as const,
      content: [{ type: "tool_use" as const, id: "t", name: "bash", input: { command: "x" } }],
    },
    {
      role: "user" as const,
      content: [{ type: "tool_result" as const, tool_use_id: "t", content: "broken", is_error: true }],
    },
  ];
  const entries = messages.map((message, index) => ({ seq: index + 1, message }));
  const [entry] = extendLedger(emptyLedger(), entries, anthropicShape).commands;
  assert.deepEqual([entry?.fails, entry?.lines], [1, ["broken"]]);
});

test("the ledger is bounded: the newest stays, older failures that were alike are one entry, the rest is counted", () => {
  const lines = Array.from({ length: 600 }, (_, index): Line[] => [
    bash(`echo ${index}`, "ok"),
    bash(`node job-${index}.mjs`, `Error: order ${index} is gone\nexit code 1`),
    bash(`make "part ${index}"`, `Error: no rule for "part ${index}"\nexit code 2`),
    { call: "read", args: { path: `r${index}.ts` }, gives: "x" },
    { call: "write", args: { path: `w${index}.ts` }, gives: "x" },
    bash(`git commit -m "Step ${index}"`, "[main 1234567] Step"),
  ]).flat();
  const ledger = ledgerOf(...lines);
  const failing = ledger.commands.filter((command) => command.fails > 0);
  const [many, few] = [failing.filter(({ alike }) => alike !== undefined), failing.filter(({ alike }) => !alike)];
  assert.equal(few.length, KEPT.failures);
  assert.equal(few.at(-1)?.what, 'make "part 599"');
  assert.deepEqual(
    many.map(({ what, alike, fails, last, lines: said }) => ({ what, alike, fails, last, lines: said?.slice(0, 1) })),
    [
      { what: "node job-574.mjs", alike: 574, fails: 575, last: "failed", lines: ["Error: order 574 is gone"] },
      { what: 'make "part 574"', alike: 574, fails: 575, last: "failed", lines: ['Error: no rule for "part 574"'] },
    ],
  );
  assert.deepEqual(many[0]!.seqs.length, 2);
  assert.equal(ledger.files.filter((file) => file.did === "w").length, KEPT.changes);
  assert.equal(ledger.commits.length, KEPT.commits);
  assert.deepEqual(ledger.dropped, {
    reads: 600 - KEPT.reads,
    // An echo and a commit each.
    commands: 1200 - KEPT.commands,
    failures: 0,
    changes: 600 - KEPT.changes,
    commits: 600 - KEPT.commits,
  });
  assert.match(ledgerText(ledger), /`node job-574\.mjs` \(exit 1, failed, and 574 more like it\)/);
  assert.match(ledgerText(ledger), /Older, only in the messages themselves: 300 files changed, 500 commits/);
});

test("failures without number are let go and counted, whatever they say", () => {
  const word = (n: number): string => [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const ledger = ledgerOf(
    ...Array.from({ length: 400 }, (_, n) => bash(`run-${word(n)}`, `Error: ${word(n)}\nexit code 1`)),
  );
  assert.equal(ledger.commands.length, 2 * KEPT.failures);
  assert.equal(ledger.dropped.failures, 400 - 2 * KEPT.failures);
});

test("a command run again after its failures were put together is an entry of its own", () => {
  const fails = Array.from({ length: 60 }, (_, n) =>
    bash(`node job-${n}.mjs`, `Error: order ${n} is gone\nexit code 1`),
  );
  const ledger = extendLedger(ledgerOf(...fails), talk([bash("node job-9.mjs", "done\nexit code 0")]), shape);
  assert.deepEqual(
    ledger.commands
      .filter(({ what }) => what === "node job-9.mjs")
      .map(({ alike, fails, last }) => [alike, fails, last]),
    [
      [9, 10, "failed"],
      [undefined, 0, "passed"],
    ],
  );
});

test("extending in blocks gives the same ledger as reading at once", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 30 }), fc.nat(30), (lines, cut) => {
      const whole = talk(lines);
      const at = talk(lines.slice(0, cut)).length;
      const first = extendLedger(emptyLedger(), whole.slice(0, at), shape);
      const stored = JSON.parse(JSON.stringify(first)) as Ledger;
      assert.deepEqual(extendLedger(stored, whole.slice(at), shape), extendLedger(emptyLedger(), whole, shape));
    }),
  );
});
