import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_USER } from "@palimpsest/core/log";
import { threadFolder } from "palimpsest/internal/compaction";
import { threadDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import type { ThreadSummary } from "palimpsest/stores";
import type { Context, Printing, Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { ownHomeNote, withHome } from "../home/home.ts";
import { listThreads } from "../home/list-threads.ts";
import { remoteThreads } from "../home/remote-threads.ts";
import { localTime } from "../terminal/local-time.ts";
import { megabytes } from "../terminal/megabytes.ts";
import { table, titleCell } from "../terminal/table.ts";
import { inTree, type TreeRow } from "../terminal/thread-tree.ts";

interface Options {
  readonly limit?: number;
  readonly all?: boolean;
  readonly tree?: boolean;
  readonly "older-than"?: number;
  readonly sizes?: boolean;
}

export const run: Run<Options> = async ({ options }, context) => {
  const threads = (await context.located.hasStore()) ? await listed(options, context) : [];
  const flat = threads.map(({ bytes, ...summary }) => ({
    ...threadDocument(summary),
    ...(bytes !== null && { bytes }),
  }));
  return show(flat, options, context, async () => nothing(options, context) + (await ownHomeNote(context)));
};

export const remote: Remote<Options> = async ({ options }, context) => {
  const { limit = Number.POSITIVE_INFINITY, all, sizes, "older-than": days } = options;
  if (all === true || sizes === true) throw new UsageError("--all and --sizes look into a home: leave --server out.");
  const before = days === undefined ? null : new Date(Date.now() - days * 86_400_000).toISOString();
  const threads = (await remoteThreads(context, before === null ? limit : Number.POSITIVE_INFINITY))
    .filter(({ updatedAt }) => before === null || updatedAt < before)
    .slice(0, limit);
  return show(threads, options, context, async () => `No threads at ${context.server.url}.`);
};

type Row = ReturnType<typeof threadDocument> & { readonly bytes?: number };

async function show(
  flat: readonly Row[],
  { all = false, tree = false, sizes = false }: Options,
  context: Printing,
  empty: () => Promise<string>,
): Promise<number> {
  const rows = tree ? treeOfEach(flat) : flat.map((row) => ({ ...row, depth: 0 }));
  if (context.format === "json") await context.output.json({ threads: tree ? rows : flat });
  else if (rows.length === 0) context.output.note(await empty());
  else
    await context.output.line(
      table(
        [...(all ? ["user"] : []), "thread", "messages", ...(sizes ? ["size"] : []), "changed", "parent", "title"],
        rows.map((row) => [
          ...(all ? [row.user] : []),
          "  ".repeat(row.depth) + row.id,
          String(row.messages),
          ...(sizes ? [megabytes(row.bytes ?? 0)] : []),
          localTime(row.updatedAt),
          row.parent ?? "",
          titleCell(row.title ?? (row.kind === "subagent" ? `(${row.agent})` : "")),
        ]),
      ),
    );
  return 0;
}

type Listed = ThreadSummary & { readonly bytes: number | null };

function listed(options: Options, context: Context): Promise<readonly Listed[]> {
  const { limit, all, "older-than": olderThan, sizes } = options;
  return withHome(context, async (home) => {
    const filter = { ...(limit !== undefined && { limit }), ...(all === true && { all }), olderThan };
    const summaries: Listed[] = [];
    for (const summary of await listThreads(home.store, filter)) {
      context.signal.throwIfAborted();
      summaries.push({ ...summary, bytes: sizes === true ? await sizeOf(home, summary) : null });
      if (sizes === true && process.stderr.isTTY) context.output.progress(`measured ${summaries.length}`);
    }
    return summaries;
  });
}

/** Its own records and its files; what a fork shares is its parent's. */
async function sizeOf({ store, directory }: Home, { header }: ThreadSummary): Promise<number> {
  let bytes = await folderSize(threadFolder(directory, header));
  for await (const { chained } of store.forUser(header.user).records(header.id))
    if (chained.seq > (header.forkedAt ?? 0)) bytes += Buffer.byteLength(chained.header + (chained.body ?? ""));
  return bytes;
}

async function folderSize(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) => stat(join(entry.parentPath, entry.name)).catch(() => null));
  return (await Promise.all(sizes)).reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
}

function nothing({ all, "older-than": days }: Options, { store, home, userId }: Context): string {
  const of = all === true || userId === DEFAULT_USER ? "" : ` of the user ${JSON.stringify(userId)}`;
  const where = store === null ? home : "that store";
  return days === undefined ? `No threads${of} in ${where} yet.` : `No threads${of} in ${where} that are so old.`;
}

/** Ids are one user's own. */
function treeOfEach<R extends TreeRow & { readonly user: string }>(rows: readonly R[]) {
  return [...Map.groupBy(rows, ({ user }) => user).values()].flatMap((own) => inTree(own));
}
