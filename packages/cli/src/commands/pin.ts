import { pin } from "palimpsest/internal/acting";
import type { ResultOf } from "palimpsest/internal/operation";
import { wholeNumber } from "../command/arguments.ts";
import type { Input, Printing } from "../command/command.ts";
import { performing } from "../home/acts.ts";

export const { run, remote } = performing(pin, {
  input: ({ positionals: [thread, seq], options: { off } }: Input<{ readonly off?: boolean }>) => ({
    thread: thread!,
    seq: wholeNumber(seq!, "SEQ", 1),
    on: off !== true,
  }),
  show,
  hints: { "no-message": '"palimpsest replay T" shows their numbers' },
});

async function show(document: ResultOf<typeof pin>, { format, output }: Printing): Promise<number> {
  const { thread, pinned, on } = document;
  if (format === "json") await output.json(document);
  else await output.line(`${on ? "Pinned" : "Unpinned"} message ${pinned} of ${thread}.`);
  return 0;
}
