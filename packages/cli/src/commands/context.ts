import type { ThreadCost } from "palimpsest/assistant";
import { threadPrompt } from "palimpsest/inspect";
import { contextDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import type { Run } from "../command/command.ts";
import { sentence } from "../command/failure.ts";
import { missingThread, withThread } from "../home/home.ts";
import { costLine } from "../home/money.ts";
import { simulationPolicy } from "../home/simulation-policy.ts";
import { drawBudget } from "../terminal/budget-bar.ts";
import { grouped } from "../terminal/grouped.ts";

export const run: Run<{ readonly window?: number }> = async ({ positionals, options: { window: given } }, context) => {
  const threadId = positionals[0]!;
  const configured = given === undefined ? await context.located.window() : null;
  const options =
    given === undefined
      ? { window: configured?.size, reserve: configured?.reserve }
      : { window: given, simulate: await simulationPolicy(context) };
  const [prompt, cost] = await withThread(context, threadId, async (home) => [
    await threadPrompt(home.store, threadId, options),
    await costOfThread(home, threadId),
  ]);
  if (prompt.kind === "missing") throw missingThread(context, threadId);
  const { breakdown, simulated, damage } = prompt;
  if (damage !== null) context.output.note(`palimpsest: ${damage.message}`);
  if (context.format === "json") await context.output.json(contextDocument(threadId, prompt, cost));
  else {
    const { color } = context.output;
    await context.output.styled(
      `${drawBudget(breakdown, { title: threadId, color, width: process.stdout.columns || 80 })}\n`,
    );
    if (cost !== null) await context.output.line(`${sentence(costLine(cost))}.`);
    if (simulated) context.output.note(`As a window of ${given} would force it; nothing was written.`);
    if (given === undefined && (configured === null || configured.source === "fallback"))
      context.output.note(
        `The model's window is not known: ${grouped(breakdown.window)} tokens are assumed. Pass --window N.`,
      );
  }
  return damage === null ? 0 : 1;
};

/** Null where nothing is configured or has a price. */
async function costOfThread(home: Home, threadId: string): Promise<ThreadCost | null> {
  return (await home.configuration()) === null ? null : home.cost(threadId);
}
