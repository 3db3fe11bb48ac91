import { threadPrompt } from "palimpsest/inspect";
import { integer } from "../arguments.ts";
import { drawBudget } from "../budget-bar.ts";
import type { Run } from "../command.ts";
import { missingThread, withThread } from "../home.ts";

export const run: Run = async (input, context) => {
  const thread = input.positionals[0]!;
  const window = integer(input, "window", { min: 1 });
  const prompt = await withThread(context, thread, ({ store }) => threadPrompt(store, thread, { window }));
  if (prompt.kind === "missing") throw missingThread(context, thread);
  const { breakdown, simulated } = prompt;
  if (context.format === "json") await context.output.json({ thread, ...breakdown, simulated });
  else {
    await context.output.line(drawBudget(breakdown, { title: thread, color: context.output.color }));
    if (window === undefined)
      context.output.note(`The model's window is not known: ${breakdown.window} tokens are assumed. Pass --window N.`);
  }
  return 0;
};
