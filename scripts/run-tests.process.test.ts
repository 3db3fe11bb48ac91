import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { watchProcesses } from "./run-tests/overdue.ts";
import { allProcesses, type Process } from "./run-tests/processes.ts";

test("a file is overdue after its limit, what it left behind after a moment, and nothing else ever", () => {
  const process = (pid: number, parent: number, command: string) => ({ pid, parent, command });
  const [runner, file, child] = [process(1, 0, "runner"), process(2, 1, "a.test.ts"), process(3, 2, "server")];
  const stranger = process(9, 0, "stranger");
  const watch = watchProcesses(1, { fileMs: 100, orphanMs: 10 });
  const marked = new Set([2, 3]);
  const names = (all: readonly Process[], now: number) => watch({ all, marked, now }).map((one) => one.process.command);
  assert.deepEqual(names([runner, file, child, stranger], 0), []);
  assert.deepEqual(names([runner, file, child, stranger], 99), []);
  assert.deepEqual(names([runner, file, child, stranger], 100), ["a.test.ts"]);
  const orphan = process(3, 0, "server");
  assert.deepEqual(names([runner, orphan, stranger], 200), []);
  assert.deepEqual(names([runner, orphan, stranger], 210), ["server"]);
  assert.deepEqual(names([runner, process(2, 1, "b.test.ts")], 211), [], "another file under the same number");
});

const START = `import { spawn } from "node:child_process";\nimport { test } from "node:test";\n`;
const MARK = `sleep ${1000 + Math.floor(Math.random() * 1e6)}`;
const ASLEEP = `spawn("sleep", ["${MARK.slice(6)}"], { stdio: "inherit" })`;
const HIDDEN = ASLEEP.replace("inherit", "ignore").replace("})", ", detached: true }).unref()");

// One at a time: only what must run out of time has a short limit, so that a slow machine fails nothing else.
const endings = [
  { name: "fine", body: "", says: /✔ fine/, code: 0 },
  {
    name: "leaves-a-child",
    body: ASLEEP,
    says: /leaves-a-child\.test\.ts: its tests are done, but something is still open \(ProcessWrap\)/,
    doneSeconds: 0.5,
  },
  { name: "hides-a-child", body: HIDDEN, says: new RegExp(`${MARK}: a test left it behind`), only: "linux" },
  {
    name: "hangs",
    body: "return new Promise((resolve) => setTimeout(resolve, 1e6))",
    says: /✖ hangs[\s\S]*test timed out/,
    options: ["--seconds", "1"],
    doneSeconds: 0.5,
  },
  {
    name: "never-pauses",
    body: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    says: /never-pauses\.test\.ts: it has not ended after 15 s; its last test: never-pauses/,
    // So long that even on a busy machine the test has begun by then.
    options: ["--file-seconds", "15"],
  },
  {
    name: "leaves-a-child-and-shares-its-process",
    beside: `${START}test("well", () => {});\n`,
    body: ASLEEP,
    says: /\/leaves-a-child-and-shares-its-process\.test\.ts: its tests are done, but something is still open \(ProcessWrap\)/,
    doneSeconds: 0.5,
  },
  {
    name: "never-pauses-and-shares-its-process",
    beside: `${START}test("well", () => {});\n`,
    body: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    says: /\/never-pauses-and-shares-its-process\.test\.ts: it has not ended after 15 s; its last test: .*never-pauses/,
    options: ["--file-seconds", "15"],
  },
  {
    name: "stands-after-a-file-that-can't-be-loaded",
    beside: "throw new Error('broken file');\n",
    body: "",
    says: /✖ [^\n]*beside\.test\.ts[\s\S]*✔ stands-after[\s\S]*broken file/,
  },
  {
    name: "does-not-run-since-another-file-ended-the-process",
    beside: `${START}test("ends", () => process.exit(0));\n`,
    body: "",
    says: /beside\.test\.ts: it ended the process, and with it these, which did not run: .*does-not-run/,
  },
  {
    name: "takes-longer-than-the-file-before-it-may-stay-open",
    beside: `${START}test("well", () => {});\n`,
    body: "return new Promise((resolve) => setTimeout(resolve, 12_000))",
    says: /✔ takes-longer/,
    code: 0,
    doneSeconds: 10,
  },
  {
    name: "is-done-before-its-promise-fails",
    body: `setTimeout(() => Promise.reject(new Error("unheard")))`,
    says: /✖ unhandledRejection after the test "is-done-before-its-promise-fails" began: Error: unheard/,
  },
  {
    name: "waits-while-a-callback-throws",
    body: `setTimeout(() => { throw new Error("unheard"); }); return new Promise((resolve) => setTimeout(resolve, 100))`,
    says: /✖ uncaughtException after the test "waits-while-a-callback-throws" began: Error: unheard/,
  },
  {
    name: "waits-for-what-keeps-no-process",
    beside: `${START}test("well", () => {});\n`,
    body: "return new Promise((resolve) => setTimeout(resolve, 500).unref())",
    says: /✔ waits-for-what/,
    code: 0,
  },
  {
    name: "has-no-hook-of-another-file",
    beside: `import { beforeEach } from "node:test";\nbeforeEach(() => { throw new Error("not mine"); });\n`,
    body: "",
    says: /✔ has-no-hook-of-another-file/,
    code: 0,
  },
];

for (const { name, beside, body, says, only, code = 1, doneSeconds = 600, options = [] } of endings) {
  const skip = only !== undefined && only !== process.platform;
  test(`a run whose test ${name.replaceAll("-", " ")} ends and says why, and leaves no process`, {
    skip,
  }, async (t) => {
    const text = `${START}test("${name}", () => {\n  ${body};\n});\n`;
    const others = beside === undefined ? {} : { "beside.test.ts": beside };
    const { child, ended } = begin(t, { ...others, [`${name}.test.ts`]: text }, { options, doneSeconds });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    assert.equal(await ended, code, output);
    assert.match(output, says);
    assert.deepEqual(
      (await allProcesses()).filter(({ command }) => command === MARK),
      [],
    );
  });
}

for (const { title, rerun, text, code, says } of [
  {
    title: "named as unsteady if it passes then",
    rerun: "1",
    text: fails("once"),
    code: 0,
    says: /unsteady: .*a\.test\.ts/,
  },
  { title: "failed if it fails again", rerun: "1", text: fails("always"), code: 1, says: /✖ always[\s\S]*✖ always/ },
  { title: "not run again unless asked", rerun: "0", text: fails("once"), code: 1, says: /✖ once/ },
])
  test(`with PALIMPSEST_RERUN=${rerun} a file that fails is ${title}`, async (t) => {
    const { child, ended } = begin(
      t,
      { "a.test.ts": text, "b.test.ts": `${START}test("well", () => {});\n` },
      { rerun },
    );
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    assert.equal(await ended, code, output);
    assert.match(output, says);
  });

function fails(how: "once" | "always"): string {
  const passes = how === "once" ? "existsSync(mark)" : "false";
  return `import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
test("${how}", () => {
  const mark = new URL("./ran", import.meta.url);
  const passes = ${passes};
  writeFileSync(mark, "");
  if (!passes) throw new Error("not yet");
});
`;
}

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`a run that is ended by ${signal} leaves no test file behind`, async (t) => {
    const started = Promise.withResolvers<number>();
    const text = `import { test } from "node:test";\ntest("waits", () => {\n  console.log("pid " + process.pid);\n  return new Promise((resolve) => setTimeout(resolve, 1e6));\n});\n`;
    const { child, ended } = begin(t, { "waits.test.ts": text });
    child.stdout.on("data", (chunk: Buffer) => {
      const [, pid] = /pid (\d+)/.exec(chunk.toString()) ?? [];
      if (pid !== undefined) started.resolve(Number(pid));
    });
    const file = await started.promise;
    child.kill(signal);
    await ended;
    const there = async () => (await allProcesses()).some(({ pid }) => pid === file);
    while (await there()) await pause(100);
  });
}

interface RunLimits {
  readonly options?: readonly string[];
  /** How long a file may live when its tests are done. */
  readonly doneSeconds?: number;
  readonly rerun?: string;
}

function begin(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { options = [], doneSeconds = 600, rerun = "0" }: RunLimits = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-run-tests-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const script = fileURLToPath(new URL("./run-tests.ts", import.meta.url));
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const limits = { PALIMPSEST_TEST_DONE_SECONDS: String(doneSeconds), PALIMPSEST_RERUN: rerun };
  const env = { ...inherited, ...limits, TMPDIR: folder };
  const args = [script, "--grace-seconds", "0.5", ...options, join(folder, "*.test.ts")];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  return { child, ended: once(child, "close").then(([code]) => code as number | null) };
}
