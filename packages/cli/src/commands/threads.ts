import type { ThreadSummary } from "palimpsest/stores";
import { integer } from "../arguments.ts";
import type { Context, Run } from "../command.ts";
import { standsAlready, storeOf, withHome } from "../home.ts";
import { table } from "../table.ts";
import { inTree } from "../thread-tree.ts";

export const run: Run = async (input, context) => {
  const limit = integer(input, "limit", { min: 1 }) ?? Number.POSITIVE_INFINITY;
  const user = input.options["user"];
  const threads = standsAlready(await storeOf(context))
    ? await list(context, limit, typeof user === "string" ? user : undefined)
    : [];
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
  const rows = input.options["tree"] === true ? inTree(flat) : flat.map((row) => ({ ...row, depth: 0 }));
  if (context.format === "json") await context.output.json({ threads: input.options["tree"] === true ? rows : flat });
  else if (rows.length === 0)
    context.output.note(`No threads in ${context.store === null ? context.home : "that store"} yet.`);
  else
    await context.output.line(
      table(
        ["thread", "messages", "changed", "parent", "title"],
        rows.map((row) => [
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

function list(context: Context, limit: number, user: string | undefined): Promise<ThreadSummary[]> {
  return withHome(context, async ({ store }) => {
    const found: ThreadSummary[] = [];
    let after: string | undefined;
    while (found.length < limit) {
      const page = await store.threads({
        limit: Math.min(limit - found.length, PAGE),
        ...(user !== undefined && { user }),
        ...(after !== undefined && { after }),
      });
      found.push(...page.threads);
      if (page.next === null) break;
      after = page.next;
    }
    return found;
  });
}

const PAGE = 500;
