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

test("a run ends and says why, whatever its tests leave behind, and takes what they started with it", async (t) => {
  const mark = `sleep ${1000 + Math.floor(Math.random() * 1e6)}`;
  const start = `import { spawn } from "node:child_process";\nimport { test } from "node:test";\n`;
  const asleep = `spawn("sleep", ["${mark.slice(6)}"], { stdio: "inherit" })`;
  const { code, output } = await runOn(t, {
    "fine.test.ts": `${start}test("fine", () => {});\n`,
    "leaves-a-child.test.ts": `${start}test("leaves a child", () => void ${asleep});\n`,
    "hides-a-child.test.ts": `${start}test("hides a child", () => void ${asleep.replace("inherit", "ignore").replace("})", ", detached: true }).unref()")});\n`,
    "hangs.test.ts": `${start}test("hangs", () => new Promise((resolve) => setTimeout(resolve, 1e6)));\n`,
    "spins.test.ts": `${start}test("spins", () => {\n  for (;;);\n});\n`,
  });
  assert.equal(code, 1);
  assert.match(output, /✔ fine/);
  assert.match(output, /leaves-a-child\.test\.ts: its tests are done, but something is still open \(ProcessWrap\)/);
  assert.match(output, /✖ hangs[\s\S]*test timed out/);
  assert.match(output, /spins\.test\.ts: it has not ended after 2 s/);
  if (process.platform === "linux") assert.match(output, new RegExp(`${mark}: a test left it behind`));
  const left = (await allProcesses()).filter(({ command }) => command === mark);
  assert.deepEqual(left, []);
});

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`a run that is ended by ${signal} leaves no test file behind`, async (t) => {
    const started = Promise.withResolvers<number>();
    const text = `import { test } from "node:test";\ntest("waits", () => {\n  console.log("pid " + process.pid);\n  return new Promise((resolve) => setTimeout(resolve, 1e6));\n});\n`;
    const { child, ended } = begin(t, { "waits.test.ts": text }, ["--seconds", "600"]);
    child.stdout.on("data", (chunk: Buffer) => {
      const [, pid] = /pid (\d+)/.exec(chunk.toString()) ?? [];
      if (pid !== undefined) started.resolve(Number(pid));
    });
    const file = await started.promise;
    child.kill(signal);
    await ended;
    const there = async () => (await allProcesses()).some(({ pid }) => pid === file);
    for (let look = 0; look < 300 && (await there()); look++) await pause(100);
    assert.equal(await there(), false);
  });
}

async function runOn(t: TestContext, files: Readonly<Record<string, string>>) {
  const { child, ended } = begin(t, files, ["--seconds", "1", "--file-seconds", "2", "--grace-seconds", "0.5"]);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  return { code: await ended, output };
}

function begin(t: TestContext, files: Readonly<Record<string, string>>, options: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-run-tests-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const script = fileURLToPath(new URL("./run-tests.ts", import.meta.url));
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, PALIMPSEST_TEST_DONE_SECONDS: "0.5" };
  const args = [script, ...options, join(folder, "*.test.ts")];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  return { child, ended: once(child, "close").then(([code]) => code as number | null) };
}
