import { context } from "palimpsest/internal/looking";
import type { ResultOf } from "palimpsest/internal/operation";
import type { Input, Printing } from "../command/command.ts";
import { sentence } from "../command/failure.ts";
import { performing } from "../home/acts.ts";
import { costLine } from "../home/money.ts";
import { drawBudget } from "../terminal/budget-bar.ts";
import { grouped } from "../terminal/grouped.ts";

interface Options {
  readonly window?: number;
}

export const { run, remote } = performing(context, {
  input: ({ positionals, options: { window } }: Input<Options>) => ({ thread: positionals[0]!, window }),
  show,
});

async function show(
  document: ResultOf<typeof context>,
  { format, output }: Printing,
  { options: { window } }: Input<Options>,
): Promise<number> {
  const { thread: title, simulated, cost, damage, windowAssumed } = document;
  if (damage !== undefined) output.note(`palimpsest: ${damage.message}`);
  if (format === "json") await output.json(document);
  else {
    const { color } = output;
    await output.styled(`${drawBudget(document, { title, color, width: process.stdout.columns || 80 })}\n`);
    if (cost !== undefined) await output.line(`${sentence(costLine(cost))}.`);
    if (simulated) output.note(`As a window of ${window} would force it; nothing was written.`);
    if (windowAssumed)
      output.note(`The model's window is not known: ${grouped(document.window)} tokens are assumed. Pass --window N.`);
  }
  return damage === undefined ? 0 : 1;
}
