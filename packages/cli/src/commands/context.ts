import type { ThreadCost } from "palimpsest/assistant";
import { threadPrompt } from "palimpsest/inspect";
import { contextDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import type { Printing, Remote, Run } from "../command/command.ts";
import { sentence } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
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
  const source = configured === null ? "fallback" : configured.source;
  return show(contextDocument(threadId, prompt, cost), context, { given, isKnown: source !== "fallback" });
};

export const remote: Remote<{ readonly window?: number }> = async ({ positionals, options: { window } }, context) => {
  const path = threadPath(positionals[0]!, "/context");
  return show(await context.server.get(path, { window }), context, { given: window, isKnown: true });
};

interface Asked {
  readonly given: number | undefined;
  /** Whether the model's window is known. */
  readonly isKnown: boolean;
}

async function show(
  document: ReturnType<typeof contextDocument>,
  { format, output }: Printing,
  { given, isKnown }: Asked,
): Promise<number> {
  const { thread: title, simulated, cost, damage } = document;
  if (damage !== undefined) output.note(`palimpsest: ${damage.message}`);
  if (format === "json") await output.json(document);
  else {
    const { color } = output;
    await output.styled(`${drawBudget(document, { title, color, width: process.stdout.columns || 80 })}\n`);
    if (cost !== undefined) await output.line(`${sentence(costLine(cost))}.`);
    if (simulated) output.note(`As a window of ${given} would force it; nothing was written.`);
    if (given === undefined && !isKnown)
      output.note(`The model's window is not known: ${grouped(document.window)} tokens are assumed. Pass --window N.`);
  }
  return damage === undefined ? 0 : 1;
}

/** Null where nothing is configured or has a price. */
async function costOfThread(home: Home, threadId: string): Promise<ThreadCost | null> {
  return (await home.configuration()) === null ? null : home.cost(threadId);
}
