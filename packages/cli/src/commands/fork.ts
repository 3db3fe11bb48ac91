import { fork } from "palimpsest/internal/acting";
import type { ResultOf } from "palimpsest/internal/operation";
import type { Input, Printing } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { performing } from "../home/acts.ts";
import { requireThreadId } from "../home/home.ts";

interface Options {
  readonly at?: number;
  readonly as?: string;
}

export const { run, remote } = performing(fork, {
  input({ positionals, options: { at, as } }: Input<Options>) {
    if (at === undefined) throw new UsageError("--at is missing. Usage: palimpsest fork T --at SEQ [--as T2]");
    if (as !== undefined) requireThreadId(as);
    return { thread: positionals[0]!, at, as };
  },
  show,
  hints: { exists: "choose another name with --as", "beyond-end": "--at is too high" },
});

async function show(document: ResultOf<typeof fork>, { format, output }: Printing): Promise<number> {
  const { thread, parent, at } = document;
  if (format === "json") await output.json(document);
  else await output.line(`Forked ${parent} at record ${at} as ${thread}.`);
  return 0;
}
