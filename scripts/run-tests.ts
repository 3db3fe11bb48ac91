/**
 * Runs the test files, two at a time, each in a process of its own, and sees to it that the run ends: a test has a limit, a
 * file has one, what a file leaves open fails it (run-tests/guard.ts), and a process that it leaves behind is named, fails
 * the run and is killed. `node scripts/run-tests.ts [--seconds N] [--file-seconds N] [--grace-seconds N] [pattern...]`
 * Without a pattern: all but `x.process.test.ts`, which start many processes and take long.
 */
import { randomUUID } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { watchProcesses } from "./run-tests/overdue.ts";
import { allProcesses, endFamily, familyOf, markedProcesses } from "./run-tests/processes.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "240" },
    "file-seconds": { type: "string", default: "900" },
    "grace-seconds": { type: "string", default: "10" },
  },
});
const ms = (name: keyof typeof values): number => Number(values[name]) * 1000;
const files =
  positionals.length > 0
    ? globSync(positionals)
    : globSync(["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts"], { exclude: ["**/*.process.test.ts"] });
if (files.length === 0) {
  process.stderr.write(`No test file is named ${positionals.join(" ")}.\n`);
  process.exit(1);
}

/** Everything that tests start inherits it. */
const mark = `PALIMPSEST_TEST_RUN=${randomUUID()}`;
process.env["PALIMPSEST_TEST_RUN"] = mark.slice(mark.indexOf("=") + 1);
/** In which the process of a file writes the name of the test it runs. */
const names = mkdtempSync(join(tmpdir(), "palimpsest-test-names-"));
process.env["PALIMPSEST_TEST_NAMES"] = names;
process.once("exit", () => rmSync(names, { recursive: true, force: true }));
// Every file loads the same modules: their types are stripped and they are compiled once, which is half of a file's start.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("../node_modules/.cache/tests", import.meta.url));

const stream = run({
  files: files.sort(),
  concurrency: 2,
  timeout: ms("seconds"),
  execArgv: ["--conditions=palimpsest-source", `--import=${new URL("./run-tests/guard.ts", import.meta.url)}`],
});
stream.on("test:fail", ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1;
});
stream.compose(spec).pipe(process.stdout);

const graceMs = ms("grace-seconds");
const watch = watchProcesses(process.pid, { fileMs: ms("file-seconds"), orphanMs: graceMs });
let running = true;
stream.once("close", () => {
  running = false;
});
/** Until all files are done and nothing of theirs is left. */
async function look(): Promise<void> {
  const all = await allProcesses();
  const marked = await markedProcesses(mark);
  for (const { process: late, reason } of watch({ all, marked, now: performance.now() })) {
    process.stderr.write(`\n✖ ${late.command.split(" ").slice(-3).join(" ")}: ${reason}${lastTest(late.pid)}\n`);
    process.exitCode = 1;
    await endFamily(familyOf(late.pid, all), graceMs);
  }
  if (running || marked.size > 0) setTimeout(look, running ? 1000 : 200);
}
void look();

function lastTest(pid: number): string {
  try {
    return `; its last test: ${readFileSync(join(names, String(pid)), "utf8")}`;
  } catch {
    return "";
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, async () => {
    const all = await allProcesses();
    const files = all.filter(({ parent }) => parent === process.pid);
    await Promise.all(files.map(({ pid }) => endFamily(familyOf(pid, all), graceMs)));
    process.exit(130);
  });
