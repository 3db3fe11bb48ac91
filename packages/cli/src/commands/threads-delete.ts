import { deleteInHome } from "palimpsest/internal/assistant";
import { deleteDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import type { Scrubbed } from "palimpsest/stores";
import type { Context, Printing, Remote, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { ask, canAsk, isYes } from "../home/ask.ts";
import { busy, missingThread, noteScrubbed, requireThreadId, withHome } from "../home/home.ts";
import { listThreads, matcherOf } from "../home/list-threads.ts";
import { counted } from "../terminal/counted.ts";

interface Options {
  readonly "older-than"?: number;
  readonly yes?: boolean;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const { "older-than": days, yes = false } = options;
  const single = positionals.length === 1 && !positionals[0]!.includes("*") && days === undefined;
  if (positionals.length === 0 && days === undefined)
    throw new UsageError("T is missing. Usage: palimpsest threads delete T..., or --older-than DAYS");
  for (const name of positionals) if (!name.includes("*")) requireThreadId(name);
  if (!(await context.located.hasStore())) throw missingThread(context, positionals[0] ?? "*");
  return withHome(context, async (home) => {
    const threads = await chosen(home, positionals, days, context);
    if (threads.length === 0) {
      if (context.format === "json") await context.output.json({ deleted: [], kept: [] });
      else context.output.note("No such threads: nothing was deleted.");
      return 0;
    }
    if (!yes) await confirm(threads, single, context);
    return single ? deleteOne(home, threads[0]!, context) : deleteAll(home, threads, context);
  });
};

export const remote: Remote<Options> = async ({ positionals }, context) => {
  const { server, format, output } = context;
  const [threadId, another] = positionals;
  if (threadId === undefined || another !== undefined || threadId.includes("*"))
    throw new UsageError("With --server one thread is deleted, by its name: palimpsest threads delete T");
  return show(await server.send("DELETE", threadPath(threadId)), { format, output });
};

async function show(document: ReturnType<typeof deleteDocument>, { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json(document);
  else await output.line(`Deleted ${document.thread}.`);
  return 0;
}

/** A name must be there; of a pattern there may be none. */
async function chosen(
  { store }: Home,
  patterns: readonly string[],
  olderThan: number | undefined,
  context: Context,
): Promise<readonly string[]> {
  for (const name of patterns)
    if (!name.includes("*") && (await store.header(name)) === undefined) throw missingThread(context, name);
  const matchers = patterns.map(matcherOf);
  const listed = await listThreads(store, { olderThan });
  return (
    listed
      .map(({ header }) => header)
      // A sub-agent's thread goes with its parent's.
      .filter(({ id, kind }) => kind === "main" || patterns.includes(id))
      .filter(({ id }) => matchers.length === 0 || matchers.some((matches) => matches(id)))
      .map(({ id }) => id)
  );
}

/** Elsewhere than in a terminal one thread by its name is meant; many need to be meant twice. */
async function confirm(
  threads: readonly string[],
  single: boolean,
  { output, format, signal }: Context,
): Promise<void> {
  if (canAsk(format)) {
    const names = threads.slice(0, SHOWN).join(", ");
    const more = threads.length > SHOWN ? `, and ${threads.length - SHOWN} more` : "";
    await output.line(`${names}${more}`);
    if (isYes(await ask(`Delete ${counted(threads.length, "thread")} for good? [y/N] `, signal))) return;
    throw new Failure("declined", "Nothing was deleted.");
  }
  if (!single)
    throw new UsageError(
      `This would delete ${counted(threads.length, "thread")} for good: add --yes if that is meant.`,
    );
}

const SHOWN = 10;

async function deleteOne(home: Home, threadId: string, context: Context): Promise<number> {
  const result = await deleteInHome(home, threadId);
  if (result.kind === "busy") throw busy(result.threadId, result);
  if (result.kind === "missing") throw missingThread(context, threadId);
  noteScrubbed(context, result.scrubbed);
  return show(deleteDocument(threadId), context);
}

async function deleteAll(home: Home, threads: readonly string[], context: Context): Promise<number> {
  const deleted: string[] = [];
  const kept: string[] = [];
  let scrubbed: Scrubbed = { kind: "clean" };
  for (const threadId of threads) {
    context.signal.throwIfAborted();
    const result = await deleteInHome(home, threadId);
    if (result.kind === "deleted") deleted.push(threadId);
    if (result.kind === "busy") kept.push(threadId);
    if (result.kind === "deleted") scrubbed = result.scrubbed;
    if (process.stderr.isTTY) context.output.progress(`deleted ${deleted.length} of ${threads.length}`);
  }
  noteScrubbed(context, scrubbed);
  for (const threadId of kept) context.output.note(`Kept ${threadId}: it is being written to.`);
  if (context.format === "json") await context.output.json({ deleted, kept });
  else await context.output.line(`Deleted ${counted(deleted.length, "thread")}.`);
  return kept.length === 0 ? 0 : 1;
}
