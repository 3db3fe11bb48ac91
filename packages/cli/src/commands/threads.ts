/** Threads as a whole: listed, renamed, deleted, pruned. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_USER, type ThreadName } from "@palimpsest/core/internal/log";
import { threadFolder } from "palimpsest/internal/compaction";
import type { Home } from "palimpsest/internal/home";
import type { ResultOf } from "palimpsest/internal/operation";
import { type Pruned, pruneSubagents, settleInterrupted } from "palimpsest/internal/subagents";
import * as threads from "palimpsest/internal/thread-operations";
import { everyUser } from "palimpsest/stores";
import type { CommandRun, Context, Input } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import {
  type Acts,
  acting,
  hasNamedStore,
  leftNotes,
  ownHomeNote,
  performing,
  print,
  requireThreadId,
  withHome,
} from "../home/home.ts";
import { everyThread, listThreads, matcherOf } from "../home/list-threads.ts";
import { ask, canAsk, counted, isYes, localTime, megabytes } from "../terminal/output.ts";
import { inTree, type TreeRow, table, titleCell } from "../terminal/table.ts";

interface ListOptions {
  readonly limit?: number;
  readonly all?: boolean;
  readonly tree?: boolean;
  readonly "older-than"?: number;
  readonly sizes?: boolean;
}

export const listing = acting<ListOptions>(async ({ options }, acts) => {
  await showRows(await listedRows(options, acts), options, acts);
  return 0;
});

type ListedRow = threads.ListedThread & { readonly bytes?: number };

async function listedRows(options: ListOptions, acts: Acts): Promise<readonly ListedRow[]> {
  const { limit, all = false, sizes = false, "older-than": olderThan } = options;
  if (!all && !sizes) return everyThread(acts, { limit, olderThan });
  const { context } = acts;
  if (context === null) throw new UsageError("--all and --sizes look into a home: leave --server out.");
  if (!(await hasNamedStore(context))) return [];
  return withHome(context, async (home) => {
    const rows: ListedRow[] = [];
    for (const summary of await listThreads(home.store, { limit, all, olderThan })) {
      acts.signal.throwIfAborted();
      const row = threads.threadRow(summary);
      rows.push(sizes ? { ...row, bytes: await sizeOf(home, row) } : row);
      if (sizes && process.stderr.isTTY) acts.output.progress(`measured ${rows.length}`);
    }
    return rows;
  });
}

async function showRows(flat: readonly ListedRow[], options: ListOptions, acts: Acts): Promise<void> {
  const { all = false, tree = false, sizes = false } = options;
  const { output, context, server } = acts;
  const rows = tree ? treeOfEach(flat) : flat.map((row) => ({ ...row, depth: 0 }));
  await print(acts, { threads: tree ? rows : flat }, async () => {
    if (rows.length === 0 && context === null) return output.note(`No threads at ${server?.url}.`);
    if (rows.length === 0) return output.note(nothing(options, context!) + (await ownHomeNote(context!)));
    const head = [...(all ? ["user"] : []), "thread", "messages", ...(sizes ? ["size"] : [])];
    const cells = rows.map((row) => [
      ...(all ? [row.user] : []),
      "  ".repeat(row.depth) + row.id,
      String(row.messages),
      ...(sizes ? [megabytes(row.bytes ?? 0)] : []),
      localTime(row.updatedAt),
      row.parent ?? "",
      titleCell(row.title ?? (row.kind === "subagent" ? `(${row.agent})` : "")),
    ]);
    await output.line(table([...head, "changed", "parent", "title"], cells));
  });
}

/** Its own records and its files; what a fork shares is its parent's. */
async function sizeOf({ store, directory }: Home, { id, user, forkedAt }: threads.ListedThread): Promise<number> {
  let bytes = await folderSize(threadFolder(directory, { user, id }));
  for await (const { chained } of store.forUser(user).records(id))
    if (chained.seq > (forkedAt ?? 0)) bytes += Buffer.byteLength(chained.header + (chained.body ?? ""));
  return bytes;
}

async function folderSize(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) => stat(join(entry.parentPath, entry.name)).catch(() => null));
  return (await Promise.all(sizes)).reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
}

function nothing({ all, "older-than": days }: ListOptions, { store, home, userId }: Context): string {
  const of = all === true || userId === DEFAULT_USER ? "" : ` of the user ${JSON.stringify(userId)}`;
  const where = store === null ? home : "that store";
  return days === undefined ? `No threads${of} in ${where} yet.` : `No threads${of} in ${where} that are so old.`;
}

/** Ids are one user's own. */
function treeOfEach<R extends TreeRow & { readonly user: string }>(rows: readonly R[]) {
  return [...Map.groupBy(rows, ({ user }) => user).values()].flatMap((own) => inTree(own));
}

export const renaming = performing(threads.rename, {
  input: ({ positionals: [thread, title] }: Input) => ({ thread: thread!, title: title! }),
  fields: { title: "TITLE" },
  show: ({ thread, title }) => `${thread} is called ${JSON.stringify(title)} now.`,
});

interface DeleteOptions {
  readonly "older-than"?: number;
  readonly yes?: boolean;
}

export const deleting = acting<DeleteOptions>(async ({ positionals, options }, acts) => {
  const { "older-than": olderThan, yes = false } = options;
  const isSingle = positionals.length === 1 && !positionals[0]!.includes("*") && olderThan === undefined;
  if (positionals.length === 0 && olderThan === undefined)
    throw new UsageError("T is missing. Usage: palimpsest threads delete T..., or --older-than DAYS");
  for (const name of positionals) if (!name.includes("*")) requireThreadId(name);
  const ids = await matchingThreads(acts, positionals, olderThan);
  if (ids.length === 0) {
    await print(acts, { deleted: [], kept: [] }, async () => acts.output.note("No such threads: nothing was deleted."));
    return 0;
  }
  if (!yes) await confirm(ids, isSingle, acts);
  return isSingle ? deleteOne(ids[0]!, acts) : deleteAll(ids, acts);
});

/** A name must be there; of a pattern there may be none. */
async function matchingThreads(
  acts: Acts,
  patterns: readonly string[],
  olderThan: number | undefined,
): Promise<readonly string[]> {
  for (const name of patterns) if (!name.includes("*")) await acts.call(threads.show, { thread: name });
  const matchers = patterns.map(matcherOf);
  return (
    (await everyThread(acts, { olderThan }))
      // A sub-agent's thread goes with its parent's.
      .filter(({ id, kind }) => kind === "main" || patterns.includes(id))
      .filter(({ id }) => matchers.length === 0 || matchers.some((matches) => matches(id)))
      .map(({ id }) => id)
  );
}

/** Outside a terminal a single thread by its name needs no confirmation; several need --yes. */
async function confirm(ids: readonly string[], isSingle: boolean, { output, format, signal }: Acts): Promise<void> {
  if (canAsk(format)) {
    const names = ids.slice(0, SHOWN).join(", ");
    const more = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : "";
    await output.line(`${names}${more}`);
    if (isYes(await ask(`Delete ${counted(ids.length, "thread")} for good? [y/N] `, signal))) return;
    throw new Failure("declined", "Nothing was deleted.");
  }
  if (!isSingle)
    throw new UsageError(`This would delete ${counted(ids.length, "thread")} for good: add --yes if that is meant.`);
}

const SHOWN = 10;

async function deleteOne(threadId: string, acts: Acts): Promise<number> {
  const document = await acts.call(threads.remove, { thread: threadId });
  for (const note of leftNotes(document.left)) acts.output.note(note);
  await print(acts, document, () => `Deleted ${document.thread}.`);
  return 0;
}

async function deleteAll(ids: readonly string[], acts: Acts): Promise<number> {
  const deleted: string[] = [];
  const kept: string[] = [];
  let last: ResultOf<typeof threads.remove> | null = null;
  for (const thread of ids) {
    acts.signal.throwIfAborted();
    last = (await acts.call(threads.remove, { thread }).catch(unlessKept)) ?? last;
    (last?.thread === thread ? deleted : kept).push(thread);
    if (process.stderr.isTTY) acts.output.progress(`deleted ${deleted.length} of ${ids.length}`);
  }
  for (const note of leftNotes(last?.left)) acts.output.note(note);
  for (const thread of kept) acts.output.note(`Kept ${thread}: it is being written to.`);
  await print(acts, { deleted, kept }, () => `Deleted ${counted(deleted.length, "thread")}.`);
  return kept.length === 0 ? 0 : 1;
}

function unlessKept(error: unknown): null {
  if (Failure.isInstance(error) && error.code === "busy") return null;
  throw error;
}

export const pruning: { readonly run: CommandRun<{ readonly days?: number; readonly all?: boolean }> } = {
  async run({ options }, context) {
    const { located, home, output } = context;
    const days = options.days ?? (await located.settings()).subagents.retention_days;
    const unfinished = options.all ? "too" : "keep";
    const forget = (thread: ThreadName) => rm(threadFolder(home, thread), { recursive: true, force: true });
    const pruned: Pruned[] = [];
    if (await located.hasStore())
      await withHome(context, async (deps) => {
        for await (const store of everyUser(deps.store)) {
          await settleInterrupted({ ...deps, store });
          pruned.push(await pruneSubagents({ ...deps, store }, { days, unfinished, forget }));
        }
      });
    const [deleted, kept] = [pruned.flatMap((one) => one.deleted), pruned.flatMap((one) => one.kept)];
    await print(context, { deleted, kept }, async () => {
      for (const threadId of deleted) await output.line(`Deleted ${threadId}.`);
      for (const { thread, reason } of kept) output.note(`Kept ${thread}: ${WHY_KEPT[reason]}.`);
      if (deleted.length === 0) output.note(`No sub-agent thread to delete that is older than ${days} days.`);
    });
    return 0;
  },
};

const WHY_KEPT = {
  unfinished: "it was interrupted, and its parent can still continue it (--all deletes it too)",
  busy: "it or its parent is being written to",
};
