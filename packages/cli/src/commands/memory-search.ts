import type { Run } from "../command/command.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<MemoryOptions & { readonly limit?: number }> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    const { limit = 20 } = input.options;
    const hits = await service.search(scope, input.positionals[0]!, limit);
    if (context.format === "json") {
      await context.output.json({ facts: hits.map(({ fact, score }) => ({ ...fact, score })) });
      return 0;
    }
    if (hits.length === 0) context.output.note("Nothing found.");
    for (const { fact } of hits) await context.output.line(`${fact.id}  ${printable(fact.content)}`);
    return 0;
  });
