import { everyUser, type Store, type ThreadSummary } from "palimpsest/stores";
import type { Context, Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";
import { table } from "../terminal/table.ts";
import { inTree, type TreeRow } from "../terminal/thread-tree.ts";

interface Options {
  readonly limit?: number;
  readonly all?: boolean;
  readonly tree?: boolean;
}

export const run: Run<Options> = async ({ options }, context) => {
  const { limit = Number.POSITIVE_INFINITY, all = false, tree = false } = options;
  const threads = (await context.located.hasStore()) ? await list(context, limit, all) : [];
  const flat = threads.map(({ header, title, messages, updatedAt }) => ({
    id: header.id,
    title,
    messages,
    updatedAt,
    parent: header.parent,
    forkedAt: header.forkedAt,
    user: header.user,
    agent: header.agent,
    kind: header.kind,
  }));
  const rows = tree ? treeOfEach(flat) : flat.map((row) => ({ ...row, depth: 0 }));
  if (context.format === "json") await context.output.json({ threads: tree ? rows : flat });
  else if (rows.length === 0)
    context.output.note(`No threads in ${context.store === null ? context.home : "that store"} yet.`);
  else
    await context.output.line(
      table(
        [...(all ? ["user"] : []), "thread", "messages", "changed", "parent", "title"],
        rows.map((row) => [
          ...(all ? [row.user] : []),
          "  ".repeat(row.depth) + row.id,
          String(row.messages),
          row.updatedAt,
          row.parent ?? "",
          row.title ?? (row.kind === "subagent" ? `(${row.agent})` : ""),
        ]),
      ),
    );
  return 0;
};

function list(context: Context, limit: number, all: boolean): Promise<ThreadSummary[]> {
  return withHome(context, async ({ store }) => {
    if (!all) return ofUser(store, limit);
    const found: ThreadSummary[] = [];
    for await (const own of everyUser(store)) found.push(...(await ofUser(own, limit)));
    return found.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)).slice(0, limit);
  });
}

async function ofUser(store: Store, limit: number): Promise<ThreadSummary[]> {
  const found: ThreadSummary[] = [];
  let after: string | undefined;
  while (found.length < limit) {
    const page = await store.threads({
      limit: Math.min(limit - found.length, PAGE),
      ...(after !== undefined && { after }),
    });
    found.push(...page.threads);
    if (page.next === null) break;
    after = page.next;
  }
  return found;
}

/** Ids are one user's own. */
function treeOfEach<R extends TreeRow & { readonly user: string }>(rows: readonly R[]) {
  return [...Map.groupBy(rows, ({ user }) => user).values()].flatMap((own) => inTree(own));
}

const PAGE = 500;
