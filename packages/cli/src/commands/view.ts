import { shapeOf } from "@palimpsest/core/message";
import { threadPrompt } from "palimpsest/inspect";
import type { Run } from "../command/command.ts";
import { missingThread, withThread } from "../home/home.ts";
import { squeezePolicy } from "../home/squeeze.ts";
import { grouped } from "../terminal/grouped.ts";
import { writeMessage } from "../terminal/message-text.ts";

export const run: Run<{ readonly window?: number }> = async ({ positionals, options: { window } }, context) => {
  const thread = positionals[0]!;
  const options = window === undefined ? {} : { window, squeeze: await squeezePolicy(context) };
  const prompt = await withThread(context, thread, ({ store }) => threadPrompt(store, thread, options));
  if (prompt.kind === "missing") throw missingThread(context, thread);
  const { dialect, count, messages, sources, simulated, system, tools, repairs, damage } = prompt;
  if (damage !== null) context.output.note(`palimpsest: ${damage.message}`);
  if (context.format === "json") {
    await context.output.json({
      thread,
      dialect,
      tokens: count.tokens,
      source: count.source,
      simulated,
      system,
      tools,
      repairs,
      messages,
      sources,
      ...(damage !== null && { damage }),
    });
    return damage === null ? 0 : 1;
  }
  for (const [what, all] of Map.groupBy(repairs, ({ kind, detail }) => `${kind}, ${detail}`))
    context.output.note(`repaired: ${what}${all.length > 1 ? ` (${all.length} times)` : ""}`);
  for (const [index, message] of messages.entries())
    await context.output.line(writeMessage(message, shapeOf(dialect) as never, `${index + 1}`));
  const made = simulated ? `, as a window of ${window} would force it; nothing was written` : "";
  context.output.note(`${messages.length} messages, ${grouped(count.tokens)} tokens (${count.source})${made}`);
  return damage === null ? 0 : 1;
};
