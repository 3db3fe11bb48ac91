import { existsSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { openStore, type Store } from "palimpsest/stores";
import { type CopyOptions, copyStore } from "palimpsest/threads";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { withStore } from "../home/home.ts";
import { copyProgress } from "../terminal/copy-progress.ts";
import { counted } from "../terminal/counted.ts";
import { megabytes } from "../terminal/megabytes.ts";

export const run: Run = async ({ positionals }, context) => {
  const { located, output, format, signal } = context;
  const target = await located.storeTarget();
  if (!(await located.hasStore())) throw new Failure("missing", `There is no database at ${target} to back up.`);
  const file = resolve(positionals[0] ?? `palimpsest-${new Date().toISOString().slice(0, 10)}.db`);
  if (existsSync(file)) throw new Failure("exists", `${file} exists already: name another file.`);
  const onProgress = copyProgress(output);
  const report = await withStore(target, (source) => into(file, source, { signal, onProgress }), "read");
  const bytes = statSync(file).size;
  const threads = report.copied;
  for (const { thread, detail } of report.failed) output.note(`${thread} is not in it: ${detail}`);
  if (format === "json") await output.json({ file, threads, records: report.records, bytes, failed: report.failed });
  else await output.line(`${file} holds ${counted(threads, "thread")}, verified (${megabytes(bytes)}).`);
  output.note(`Files of threads and memory.json are in ${context.home} itself: copy that folder too.`);
  return report.failed.length === 0 ? 0 : 1;
};

/** An incomplete backup is no backup. */
async function into(file: string, source: Store, options: CopyOptions) {
  const target = await openStore(file);
  try {
    return await copyStore(source, target, options);
  } catch (error) {
    await target.close();
    for (const part of ["", "-wal", "-shm"]) rmSync(`${file}${part}`, { force: true });
    throw error;
  } finally {
    await target.close().catch(() => {});
  }
}
