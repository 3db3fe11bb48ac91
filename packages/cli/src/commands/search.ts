import { searchDocument } from "palimpsest/internal/documents";
import { coverNote } from "palimpsest/internal/recall";
import { type SearchOutcome, searchAll, searchThread } from "palimpsest/recall";
import type { Context, Input, Printing, Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { missingThread, withHome, withThread } from "../home/home.ts";
import { inBold, NOTHING_FOUND } from "../terminal/found-words.ts";
import { plain } from "../terminal/terminal-text.ts";

interface Options {
  readonly limit?: number;
  readonly all?: boolean;
}

export const run: Run<Options> = async (input, context) => {
  const { limit = 10, all = false } = input.options;
  const [threadId, question] = words(input, all);
  const outcome =
    threadId === null ? await everywhere(context, question, limit) : await inside(context, threadId, question, limit);
  if (outcome.kind === "nothing" && outcome.reason === "missing") throw missingThread(context, threadId ?? "");
  return show(searchDocument(question, outcome, { all }), context);
};

export const remote: Remote<Options> = async (input, context) => {
  const { limit, all = false } = input.options;
  const [threadId, q] = words(input, all);
  const path = threadId === null ? "/api/search" : threadPath(threadId, "/search");
  return show(await context.server.get(path, { q, limit }), context);
};

async function show(document: ReturnType<typeof searchDocument>, { format, output }: Printing): Promise<number> {
  const missing = coverNote(document);
  if (missing !== null) output.note(missing);
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  // A neighbor of what matches counts for an agent; a person asked for the words.
  const shown = document.hits.filter(({ marks }) => marks.length > 0);
  for (const { thread, seq, at, role, snippet: text, marks } of shown) {
    await output.line(`${thread === undefined ? "" : `${thread} `}#${seq} ${role} ${at}`);
    const words = output.color ? inBold({ text, marks }) : plain(text);
    await output.styled(`${words.replaceAll(/^/gm, "  ")}\n\n`);
  }
  const { reason } = document;
  if (reason !== undefined) output.note(NOTHING_FOUND[reason]);
  else if (shown.length === 0) output.note(NOTHING_FOUND["no-match"]);
  return 0;
}

/** The thread (null: all of them) and what is asked. */
function words({ positionals }: Input, all: boolean): [string | null, string] {
  const [first, second] = positionals as [string, string?];
  if (all && second !== undefined)
    throw new UsageError(`"${second}" is one argument too many. Usage: palimpsest search --all QUERY`);
  if (all) return [null, first];
  if (second === undefined)
    throw new UsageError("QUERY is missing. Usage: palimpsest search T QUERY, or search --all QUERY");
  return [first, second];
}

function inside(context: Context, threadId: string, question: string, limit: number): Promise<SearchOutcome> {
  return withThread(context, threadId, async (home) =>
    searchThread(home.store, threadId, question, { limit, ...(await home.embedding()) }),
  );
}

async function everywhere(context: Context, question: string, limit: number): Promise<SearchOutcome> {
  if (!(await context.located.hasStore())) return { kind: "nothing", reason: "no-match" };
  return withHome(context, async (home) => searchAll(home.store, question, { limit, ...(await home.embedding()) }));
}
