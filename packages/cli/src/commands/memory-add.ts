import type { Fact } from "@palimpsest/core/memory";
import type { Printing, Remote, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { type FactOptions, factOptions, REFUSED } from "../home/memory-fact.ts";
import { withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<FactOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    const added = await service.add(scope, { content: input.positionals[0]!, ...factOptions(input) });
    if (added.kind === "refused") throw new Failure(added.reason, REFUSED[added.reason]);
    return show({ kind: added.kind, fact: added.fact }, context);
  });

export const remote: Remote<FactOptions> = async (input, context) => {
  const body = { content: input.positionals[0]!, ...factOptions(input) };
  return show(await context.server.send("POST", "/api/memory/facts", body, { agent: input.options.agent }), context);
};

interface Added {
  readonly kind: "added" | "known";
  readonly fact: Fact;
}

async function show(document: Added, { format, output }: Printing): Promise<number> {
  const { kind, fact } = document;
  if (format === "json") await output.json(document);
  else if (kind === "known") await output.line(`Known already as ${fact.id}.`);
  else await output.line(`Remembered as ${fact.id}: ${printable(fact.content)}`);
  return 0;
}
