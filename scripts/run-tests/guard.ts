/**
 * Loaded into the process of every test file. Once its tests are done it has a minute to end: what is open then is told
 * and fails the file, which would keep the run waiting for ever. It ends with the run, however that ends.
 */
import { after } from "node:test";

const seconds = Number(process.env["PALIMPSEST_TEST_DONE_SECONDS"] ?? 60);

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
