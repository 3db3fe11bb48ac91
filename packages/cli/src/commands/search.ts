import { createSnippets } from "@palimpsest/core/recall";
import { searchDocument } from "palimpsest/internal/documents";
import { type SearchOutcome, searchAll, searchThread } from "palimpsest/recall";
import type { Context, Input, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { missingThread, withHome, withThread } from "../home/home.ts";
import { inBold, NOTHING_FOUND } from "../terminal/found-words.ts";
import { plain } from "../terminal/terminal-text.ts";

export const run: Run<{ readonly limit?: number; readonly all?: boolean }> = async (input, context) => {
  const { limit: k = 10, all = false } = input.options;
  const [threadId, question] = words(input, all);
  const outcome =
    threadId === null ? await everywhere(context, question, k) : await inside(context, threadId, question, k);
  if (outcome.kind === "nothing" && outcome.reason === "missing") throw missingThread(context, threadId ?? "");
  if (outcome.unindexed !== undefined)
    context.output.note(`${outcome.unindexed} records could not be searched: the index can't be written here.`);
  if (context.format === "json") {
    await context.output.json(searchDocument(question, outcome, { all }));
    return 0;
  }
  const hits = outcome.kind === "found" ? outcome.hits : [];
  const snippetOf = createSnippets(question);
  // A neighbor of what matches counts for an agent; a person asked for the words.
  const shown = hits
    .map((hit) => ({ ...hit, snippet: snippetOf(hit.text) }))
    .filter((hit) => hit.snippet.marks.length > 0);
  for (const { threadId: of, seq, at, role, snippet } of shown) {
    await context.output.line(`${all ? `${of} ` : ""}#${seq} ${role} ${at}`);
    const words = context.output.color ? inBold(snippet) : plain(snippet.text);
    await context.output.styled(`${words.replaceAll(/^/gm, "  ")}\n\n`);
  }
  if (outcome.kind === "nothing") context.output.note(NOTHING_FOUND[outcome.reason]);
  else if (shown.length === 0) context.output.note(NOTHING_FOUND["no-match"]);
  return 0;
};

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

function inside(context: Context, threadId: string, question: string, k: number): Promise<SearchOutcome> {
  return withThread(context, threadId, ({ store }) => searchThread(store, threadId, question, { k }));
}

async function everywhere(context: Context, question: string, k: number): Promise<SearchOutcome> {
  if (!(await context.located.hasStore())) return { kind: "nothing", reason: "no-match" };
  return withHome(context, ({ store }) => searchAll(store, question, { k }));
}
