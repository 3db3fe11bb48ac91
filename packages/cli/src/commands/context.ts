import { threadPrompt } from "palimpsest/inspect";
import type { Run } from "../command/command.ts";
import { missingThread, withThread } from "../home/home.ts";
import { squeezePolicy } from "../home/squeeze.ts";
import { drawBudget } from "../terminal/budget-bar.ts";
import { grouped } from "../terminal/grouped.ts";

export const run: Run<{ readonly window?: number }> = async ({ positionals, options: { window: given } }, context) => {
  const thread = positionals[0]!;
  const known = given === undefined ? await context.located.window() : null;
  const options =
    given === undefined
      ? { window: known?.size, reserve: known?.reserve }
      : { window: given, squeeze: await squeezePolicy(context) };
  const prompt = await withThread(context, thread, ({ store }) => threadPrompt(store, thread, options));
  if (prompt.kind === "missing") throw missingThread(context, thread);
  const { breakdown, simulated, damage } = prompt;
  if (damage !== null) context.output.note(`palimpsest: ${damage.message}`);
  if (context.format === "json")
    await context.output.json({ thread, ...breakdown, simulated, ...(damage !== null && { damage }) });
  else {
    const { color } = context.output;
    await context.output.styled(
      `${drawBudget(breakdown, { title: thread, color, width: process.stdout.columns || 80 })}\n`,
    );
    if (simulated) context.output.note(`As a window of ${given} would force it; nothing was written.`);
    if (given === undefined && (known === null || known.source === "fallback"))
      context.output.note(
        `The model's window is not known: ${grouped(breakdown.window)} tokens are assumed. Pass --window N.`,
      );
  }
  return damage === null ? 0 : 1;
};
