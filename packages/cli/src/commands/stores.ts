/** Stores: made, backed up, copied, brought in step, and given back the space that was freed. */
import { existsSync, rmSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { isStoreThere } from "palimpsest/internal/home";
import { FORMATS, folderChanges, type SyncRound, syncFolder } from "palimpsest/internal/import";
import { type CopyOptions, copyStore } from "palimpsest/session";
import { openStore, type Store } from "palimpsest/stores";
import type { CommandRun, Context } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { namedStore, withHome, withStore } from "../home/home.ts";
import { copyProgress, counted, megabytes, printable } from "../terminal/output.ts";

interface StoreInitOptions {
  readonly partitions?: number;
  readonly distributed?: boolean;
}

const runStoreInit: CommandRun<StoreInitOptions> = async ({ options }, { located, output, format }) => {
  const { partitions, distributed = false } = options;
  const target = await located.storeTarget();
  const layout = { ...(partitions !== undefined && { partitions }), ...(distributed && { distributed }) };
  const store = await openStore(target, layout);
  try {
    const indexes = (await store.upkeep.index?.()) ?? [];
    if (format === "json") await output.json({ partitions: partitions ?? null, distributed, indexes });
    else {
      const parts = partitions === undefined ? "" : `, its large tables in ${partitions} parts`;
      const spread = distributed ? ", spread over the nodes by user" : "";
      await output.line(`The store's tables are up to date${parts}${spread}.`);
      if (indexes.length > 0)
        output.note(`Built ${counted(indexes.length, "index", "indexes")}: ${indexes.join(", ")}.`);
    }
  } finally {
    await store.close();
  }
  return 0;
};

export const initializing = { run: runStoreInit };

const runStoreBackup: CommandRun = async ({ positionals }, context) => {
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

export const backingUp = { run: runStoreBackup };

const runStoreCopy: CommandRun = async ({ positionals }, context) => {
  const [from, to] = positionals.map(namedStore) as [string, string];
  if (from === to) throw new UsageError("FROM and TO are the same store.");
  if (!isStoreThere(from)) throw new Failure("missing", `There is no database at ${from}. Nothing was copied.`);
  const onProgress = copyProgress(context.output);
  const { signal } = context;
  const copy = (source: Store) => withStore(to, (target) => copyStore(source, target, { onProgress, signal }));
  const report = await withStore(from, copy, "read");
  const { copied, present, records, failed, memories } = report;
  for (const { thread, reason, detail } of failed) context.output.note(`${thread} (${reason}): ${detail}`);
  for (const { user, agent, reason, detail } of memories.failed)
    context.output.note(`memory of ${user}${agent === "" ? "" : `/${agent}`} (${reason}): ${detail}`);
  if (context.format === "json") await context.output.json(report);
  else
    await context.output.line(
      `Copied ${counted(copied, "thread")} with ${counted(records, "record")}, verified by their hash chains; ${present} were there already${failed.length === 0 ? "" : `; ${failed.length} failed`}.`,
    );
  if (context.format === "text" && memories.copied + memories.present + memories.failed.length > 0)
    await context.output.line(
      `Copied ${memories.copied} memories; ${memories.present} were there already${memories.failed.length === 0 ? "" : `; ${memories.failed.length} failed`}.`,
    );
  return failed.length + memories.failed.length === 0 ? 0 : 1;
};

export const copying = { run: runStoreCopy };

const runStoreVacuum: CommandRun = async (_input, context) => {
  const { located, output, format } = context;
  const target = await located.storeTarget();
  if (!(await located.hasStore())) throw new Failure("missing", `There is no database at ${target}.`);
  const before = sizeOf(target);
  output.progress(
    `${target}: rewriting ${before === null ? "its tables" : megabytes(before)} (Ctrl-C leaves it as it is)`,
  );
  await withStore(target, async ({ upkeep }) => upkeep?.vacuum());
  const after = sizeOf(target);
  if (format === "json") await output.json({ before, after });
  else if (before === null || after === null) await output.line("Freed space was given back to the server.");
  else await output.line(`${target}: ${megabytes(before)} -> ${megabytes(after)}.`);
  return 0;
};

/** Null for a server. */
function sizeOf(target: string): number | null {
  return existsSync(target) ? statSync(target).size : null;
}

export const vacuuming = { run: runStoreVacuum };

interface SyncFlags {
  readonly format?: string;
  readonly watch?: boolean;
  readonly every?: number;
  readonly learn?: boolean;
}

const runSync: CommandRun<SyncFlags> = async ({ positionals, options }, context) => {
  const { folder, format } = await followed(positionals[0]!, options.format);
  const { title } = await context.located.settings();
  const { signal } = context;
  return withHome(context, async (home) => {
    const seen = new Map<string, string>();
    const told = new Set<string>();
    const round = async (): Promise<void> => {
      const synced = await syncFolder(
        folder,
        {
          deps: home,
          format,
          title: title.enabled ? { maxWords: title.max_words } : null,
          memory: options.learn === true ? "learn" : "skip",
          signal,
        },
        seen,
      );
      if (options.watch !== true || synced.messages > 0) await report(synced, told, context);
    };
    await round();
    if (options.watch !== true) return 0;
    context.output.note(`Following ${folder}; Ctrl-C ends it.`);
    const pollMs = (options.every ?? 5) * 1000;
    for await (const _ of folderChanges(folder, { pollMs, signal })) await round();
    return 0;
  });
};

/** The folder of a program that is known, or one that is named. */
async function followed(source: string, name: string | undefined) {
  const known = FORMATS.find(({ id, folder }) => id === source && folder !== undefined);
  const format = name === undefined ? (known ?? null) : FORMATS.find(({ id }) => id === name);
  if (format === undefined)
    throw new UsageError(`There is no format ${JSON.stringify(name)}: ${FORMATS.map(({ id }) => id).join(", ")}.`);
  const folder = known?.folder?.(process.env, homedir()) ?? source;
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return { folder, format };
  const programs = FORMATS.flatMap(({ id, folder: place }) => (place === undefined ? [] : [id]));
  const what = known === undefined ? "" : `, where ${known.id} keeps its sessions`;
  throw new Failure(
    "unreadable",
    `${folder}${what}, is not a directory. Name one, or a program: ${programs.join(", ")}.`.replace(", is", " is"),
  );
}

/** What was left out is said once for each file. */
async function report(synced: SyncRound, told: Set<string>, { output, format }: Context): Promise<void> {
  const { files, changed, messages, threads, busy, notes } = synced;
  for (const { place, message } of notes) {
    // A file's name may hold a newline, which would begin a line of ours.
    const note = printable(`${place}: ${message}`);
    if (told.has(note)) continue;
    told.add(note);
    if (told.size <= SHOWN) output.note(note);
  }
  if (format === "json") {
    await output.json({ files, changed, messages, threads, busy, notes });
    return;
  }
  const more = told.size > SHOWN ? ` (${told.size} notes, --json has them all)` : "";
  const wait = busy > 0 ? ` ${counted(busy, "file")} will be read the next time: another process is writing.` : "";
  await output.line(
    `${counted(messages, "new message")} in ${counted(changed, "file")} of ${files}, in ${counted(threads.length, "thread")}${more}.${wait}`,
  );
}

const SHOWN = 20;

export const syncing = { run: runSync };
