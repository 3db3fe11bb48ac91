import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { type FactOptions, factOptions, REFUSED } from "../home/memory-fact.ts";
import { withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<FactOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    const added = await service.add(scope, { content: input.positionals[0]!, ...factOptions(input) });
    if (added.kind === "refused") throw new Failure(added.reason, REFUSED[added.reason]);
    if (context.format === "json") await context.output.json({ kind: added.kind, fact: added.fact });
    else if (added.kind === "known") await context.output.line(`Known already as ${added.fact.id}.`);
    else await context.output.line(`Remembered as ${added.fact.id}: ${printable(added.fact.content)}`);
    return 0;
  });
