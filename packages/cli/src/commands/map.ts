import { mapLineText } from "@palimpsest/core/internal/recall";
import { map } from "palimpsest/internal/looking";
import type { ResultOf } from "palimpsest/internal/operation";
import type { Input, Printing } from "../command/command.ts";
import { performing } from "../home/acts.ts";
import { plain } from "../terminal/terminal-text.ts";

interface Options {
  readonly tokens?: number;
}

export const { run, remote } = performing(map, {
  input: ({ positionals: [thread, q], options: { tokens } }: Input<Options>) => ({ thread: thread!, q, tokens }),
  show,
});

async function show(document: ResultOf<typeof map>, { format, output }: Printing): Promise<number> {
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  for (const line of document.lines) await output.line(plain(mapLineText(line)));
  const left = document.stretches - document.lines.length;
  if (document.stretches === 0) output.note("Nothing was said in this thread yet.");
  else if (left > 0) output.note(`${left} more did not fit: ask for one subject, or raise --tokens.`);
  return 0;
}
