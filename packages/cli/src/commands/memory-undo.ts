import type { Printing, Remote, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";

export const run: Run<MemoryOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    const wanted = input.positionals[0];
    const result = await service.undo(scope, wanted);
    if (result.kind === "refused") {
      const later = result.reason === "changed-since" ? ` by ${result.later}: take that back first` : "";
      throw new Failure(result.reason, `${WHY[result.reason]}${later}.`);
    }
    return show({ undone: result.undone }, context);
  });

export const remote: Remote<MemoryOptions> = async ({ positionals: [change], options: { agent } }, context) =>
  show(await context.server.send("POST", "/api/memory/undo", { change }, { agent }), context);

async function show(document: { readonly undone: readonly string[] }, { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json(document);
  else await output.line(`Took back ${document.undone.join(", ")}.`);
  return 0;
}

const WHY = {
  nothing: "There is nothing to take back",
  "unknown-change": 'There is no such change: "palimpsest memory history" lists them',
  "already-undone": "It was taken back already",
  erased: "It was erased for good",
  "changed-since": "What it changed has been changed again since",
} as const;
