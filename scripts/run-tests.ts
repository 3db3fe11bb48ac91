/**
 * Runs the test files in two processes at a time, some of them one after the other in the same one (run-tests/batches.ts),
 * and sees to it that the run ends: a test has a limit, a file has one, what a file leaves open fails it
 * (run-tests/guard.ts), and a process that it leaves behind is named, fails the run and is killed. `node scripts/run-tests.ts [--seconds N] [--file-seconds N] [--grace-seconds N] [pattern...]`
 * Without a pattern: all but `x.process.test.ts`, which start many processes and take long.
 * With PALIMPSEST_RERUN=1, which CI sets, a few files that failed run once more, alone; those that pass then are named as unsteady.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { batchesOf } from "./run-tests/batches.ts";
import { watchProcesses } from "./run-tests/overdue.ts";
import { allProcesses, endFamily, familyOf, markedProcesses, type Process } from "./run-tests/processes.ts";

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
/** In which a process writes the names of the file and the test it runs. */
const names = mkdtempSync(join(tmpdir(), "palimpsest-test-names-"));
process.env["PALIMPSEST_TEST_NAMES"] = names;
process.once("exit", () => rmSync(names, { recursive: true, force: true }));
// Every file loads the same modules: their types are stripped and they are compiled once, which is half of a file's start.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("../node_modules/.cache/tests", import.meta.url));

/** So few that both cores have work to the end, and so many that loading the modules is a small part of it. */
const FILES_IN_A_PROCESS = 12;
// The last ones first: those of the scripts take long, and a long one at the end leaves a core idle.
const entries = batchesOf(files.sort(), FILES_IN_A_PROCESS).map(entryOf).reverse();
/** More files than this don't fail by chance. */
const MOST_RERUN = 3;

async function runAll(): Promise<void> {
  const failed = await failedOf(entries, 2);
  if (failed.size === 0) return;
  const isRerun = process.env["PALIMPSEST_RERUN"] === "1" && failed.size <= MOST_RERUN;
  const unsteady = [...failed];
  if (isRerun && (await failedOf(unsteady, 1)).size === 0)
    process.stdout.write(`\n⚠ unsteady: failed among the others and passed alone: ${unsteady.join(", ")}\n`);
  else process.exitCode = 1;
}

/** Runs the entries and prints their results. Resolves with the files that have a failing test. */
async function failedOf(entriesToRun: readonly string[], concurrency: number): Promise<ReadonlySet<string>> {
  const stream = run({
    files: entriesToRun,
    concurrency,
    timeout: ms("seconds"),
    execArgv: [
      "--conditions=palimpsest-source",
      `--require=${fileURLToPath(new URL("./run-tests/untracked-promises.cjs", import.meta.url))}`,
      `--import=${new URL("./run-tests/guard.ts", import.meta.url)}`,
    ],
  });
  const failed = new Set<string>();
  stream.on("test:fail", ({ todo, skip, name, file, details }) => {
    const isOnlyAround = "failureType" in details.error && details.error.failureType === "subtestsFailed";
    if (todo !== undefined || skip !== undefined || isOnlyAround) return;
    failed.add(relative(process.cwd(), file ?? name));
  });
  const closed = once(stream, "close");
  stream.compose(spec).pipe(process.stdout, { end: false });
  await closed;
  return failed;
}

const graceMs = ms("grace-seconds");
const watch = watchProcesses(process.pid, { fileMs: ms("file-seconds"), orphanMs: graceMs });
let running = true;
/** Until all files are done and nothing of theirs is left. */
async function look(): Promise<void> {
  const all = (await allProcesses()).map(withFile);
  const marked = await markedProcesses(mark);
  for (const { process: late, reason } of watch({ all, marked, now: performance.now() })) {
    process.stderr.write(`\n✖ ${late.command.split(" ").slice(-3).join(" ")}: ${reason}${lastTest(late.pid)}\n`);
    process.exitCode = 1;
    await endFamily(familyOf(late.pid, all), graceMs);
  }
  if (running || marked.size > 0) setTimeout(look, running ? 1000 : 200);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, async () => {
    const all = await allProcesses();
    const files = all.filter(({ parent }) => parent === process.pid);
    await Promise.all(files.map(({ pid }) => endFamily(familyOf(pid, all), graceMs)));
    process.exit(130);
  });

void look();
await runAll();
running = false;

/** One file runs as it is, several by a script that names them. */
function entryOf(batch: readonly string[], index: number): string {
  if (batch.length === 1) return batch[0]!;
  const entry = join(names, `files-${index + 1}.mjs`);
  const runner = new URL("./run-tests/batch.ts", import.meta.url);
  writeFileSync(entry, `import { runBatch } from "${runner}";\nawait runBatch(${JSON.stringify(batch)});\n`);
  return entry;
}

/** Such a script goes by the file it runs: the limit is one file's, not that of all that share the process. */
function withFile(one: Process): Process {
  const file = one.parent === process.pid ? read(`${one.pid}.file`) : undefined;
  return file === undefined ? one : { ...one, command: file };
}

function lastTest(pid: number): string {
  const name = read(String(pid));
  return name === undefined ? "" : `; its last test: ${name}`;
}

function read(name: string): string | undefined {
  try {
    return readFileSync(join(names, name), "utf8");
  } catch {
    return undefined;
  }
}
