import { redo, undo } from "palimpsest/internal/acting";
import type { ResultOf } from "palimpsest/internal/operation";
import { wholeNumber } from "../command/arguments.ts";
import type { Input, Printing } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { choosing, performing } from "../home/acts.ts";

interface Options {
  readonly redo?: boolean;
}

export const { run, remote } = choosing<Options>(({ options }) => (options.redo === true ? redoing : undoing));

const undoing = performing(undo, {
  input({ positionals: [thread, seq] }: Input<Options>) {
    return { thread: thread!, seq: seq === undefined ? undefined : wholeNumber(seq, "SEQ", 1) };
  },
  show,
});

export const redoing = performing(redo, {
  input({ positionals: [thread, seq] }: Input) {
    if (seq !== undefined) throw new UsageError("--redo takes back the newest undo and needs no SEQ.");
    return { thread: thread! };
  },
  show,
});

async function show(document: ResultOf<typeof undo>, { format, output }: Printing): Promise<number> {
  const { thread, undone, redone, dependents = [] } = document;
  if (format === "json") await output.json(document);
  else if (undone !== undefined)
    await output.line(
      `Took back record ${undone} of ${thread}${withThem(dependents)}. "palimpsest redo ${thread}" brings it back.`,
    );
  else await output.line(`Took back the undo (record ${redone}) of ${thread}.`);
  return 0;
}

function withThem(dependents: readonly number[]): string {
  if (dependents.length === 0) return "";
  const which = dependents.length === 1 ? "record" : "records";
  return `, and with it ${which} ${dependents.join(", ")}, which built on it`;
}
