import type { Fact } from "@palimpsest/core/memory";
import type { Printing, Remote, Run } from "../command/command.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

interface Options extends MemoryOptions {
  readonly limit?: number;
}

export const run: Run<Options> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    const { limit = 20 } = input.options;
    const hits = await service.search(scope, input.positionals[0]!, limit);
    return show({ facts: hits.map(({ fact, score }) => ({ ...fact, score })) }, context);
  });

export const remote: Remote<Options> = async ({ positionals, options: { agent, limit = 20 } }, context) =>
  show(await context.server.get("/api/memory/facts", { agent, limit, q: positionals[0] }), context);

async function show(document: { readonly facts: readonly Fact[] }, { format, output }: Printing): Promise<number> {
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  if (document.facts.length === 0) output.note("Nothing found.");
  for (const { id, content } of document.facts) await output.line(`${id}  ${printable(content)}`);
  return 0;
}
