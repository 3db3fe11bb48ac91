import { search, searchEverywhere } from "palimpsest/internal/looking";
import type { ResultOf } from "palimpsest/internal/operation";
import { coverNote } from "palimpsest/internal/recall";
import type { Input, Printing } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { choosing, performing } from "../home/acts.ts";
import { inBold, NOTHING_FOUND } from "../terminal/found-words.ts";
import { plain } from "../terminal/terminal-text.ts";

interface Options {
  readonly limit?: number;
  readonly all?: boolean;
}

export const { run, remote } = choosing<Options>(({ options }) => (options.all === true ? everywhere : inside));

const inside = performing(search, {
  input({ positionals: [thread, q], options: { limit } }: Input<Options>) {
    if (q === undefined)
      throw new UsageError("QUERY is missing. Usage: palimpsest search T QUERY, or search --all QUERY");
    return { thread: thread!, q, limit };
  },
  show,
});

const everywhere = performing(searchEverywhere, {
  input({ positionals: [q, second], options: { limit } }: Input<Options>) {
    if (second !== undefined)
      throw new UsageError(`"${second}" is one argument too many. Usage: palimpsest search --all QUERY`);
    return { q: q!, limit };
  },
  show,
  empty: () => ({ hits: [], reason: "no-match" as const }),
});

async function show(document: ResultOf<typeof search>, { format, output }: Printing): Promise<number> {
  const missing = coverNote(document);
  if (missing !== null) output.note(missing);
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  for (const { thread, seq, at, role, snippet: text, marks } of document.hits) {
    await output.line(`${thread === undefined ? "" : `${thread} `}#${seq} ${role} ${at}`);
    const words = output.color ? inBold({ text, marks }) : plain(text);
    await output.styled(`${words.replaceAll(/^/gm, "  ")}\n\n`);
  }
  const { reason } = document;
  if (reason !== undefined) output.note(NOTHING_FOUND[reason]);
  return 0;
}
