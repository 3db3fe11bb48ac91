/**
 * Loaded into the process of every test file. Once its tests are done it has a minute to end: what is open then is told
 * and fails the file, which would keep the run waiting for ever. It ends with the run, however that ends. Which test runs is
 * written down, since a process that never pauses can't be asked.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach } from "node:test";

const seconds = Number(process.env["PALIMPSEST_TEST_DONE_SECONDS"] ?? 60);

const folder = process.env["PALIMPSEST_TEST_NAMES"];
if (folder !== undefined)
  beforeEach((t) => {
    writeFileSync(join(folder, String(process.pid)), t.fullName ?? t.name);
  });

after(() => {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap");
    process.stderr.write(
      `✖ ${process.argv[1]}: its tests are done, but something is still open (${open.join(", ")}): close it in t.after\n`,
    );
    process.exit(1);
  }, seconds * 1000).unref();
});

const runner = process.ppid;
setInterval(() => {
  if (process.ppid !== runner) process.exit(1);
}, 1000).unref();
