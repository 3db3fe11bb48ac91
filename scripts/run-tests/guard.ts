/**
 * Loaded into every process that runs test files. Once its tests are done it has a minute to end: what is open then is
 * told and fails the run, which would otherwise never end. It ends with the run, however that ends. Which file and
 * which test runs is written down, since a process that never pauses can't be asked.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach } from "node:test";
import { inspect } from "node:util";

const seconds = Number(process.env["PALIMPSEST_TEST_DONE_SECONDS"] ?? 60);

const folder = process.env["PALIMPSEST_TEST_NAMES"];
let last = "none";
beforeEach((t) => {
  last = t.fullName ?? t.name;
  if (folder !== undefined) writeFileSync(join(folder, String(process.pid)), last);
});

// The test runner fails the process then, but doesn't know which test it was (untracked-promises.cjs).
for (const name of ["unhandledRejection", "uncaughtException"] as const)
  process.on(name, (error: unknown) => {
    process.stderr.write(`✖ ${name} after the test "${last}" began: ${inspect(error)}\n`);
  });

/** What was opened by each of the files that share this process and open still when its tests were done. */
const opened: { readonly file: string; readonly names: readonly string[] }[] = [];
let openBefore: readonly string[] = [];
let shared = false;

export function fileBegins(file: string): void {
  shared = true;
  if (folder !== undefined) writeFileSync(join(folder, `${process.pid}.file`), file);
  openBefore = open();
}

export function fileEnds(file: string): void {
  const before = [...openBefore];
  const names = open().filter((name) => {
    const place = before.indexOf(name);
    if (place !== -1) before.splice(place, 1);
    return place === -1;
  });
  opened.push({ file, names });
}

// Where files share the process, Node takes the tests of the first one for all there are.
after(() => {
  if (!shared) testsDone();
});

export function testsDone(): void {
  setTimeout(() => {
    const left = open();
    const suspects = opened.filter(({ names }) => names.some((name) => left.includes(name))).map(({ file }) => file);
    process.stderr.write(
      `✖ ${suspects.join(", ") || process.argv[1]}: its tests are done, but something is still open (${left.join(", ")}): close it in t.after\n`,
    );
    process.exit(1);
  }, seconds * 1000).unref();
}

const runner = process.ppid;
setInterval(() => {
  if (process.ppid !== runner) process.exit(1);
}, 1000).unref();

function open(): string[] {
  return process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap");
}
