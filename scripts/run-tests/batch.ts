/**
 * Runs several test files in one process, one after the other. Each is a suite of its own, so that its hooks are for its
 * tests only, and is loaded when the one before it is done.
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { suite } from "node:test";
import { fileBegins, fileEnds, testsDone } from "./guard.ts";

const require = createRequire(import.meta.url);

export async function runBatch(files: readonly string[]): Promise<void> {
  const left = [...files];
  process.once("exit", () => {
    if (left.length === 0) return;
    process.stderr.write(
      `✖ ${left[0]}: it ended the process, and with it these, which did not run: ${left.slice(1)}\n`,
    );
    process.exitCode = 1;
  });
  // A test may wait for what keeps no process, such as a lease's heartbeat: Node sees to that for the first file only.
  const alive = setInterval(() => {}, 60_000);
  for (const file of files) {
    fileBegins(file);
    // Not imported: what it makes belongs to the suite only if it is loaded before this returns.
    await suite(file, () => {
      require(resolve(file));
    });
    fileEnds(file);
    left.shift();
  }
  clearInterval(alive);
  testsDone();
}
