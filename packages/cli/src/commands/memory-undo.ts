import type { Run } from "../command/command.ts";
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
    if (context.format === "json") await context.output.json({ undone: result.undone });
    else await context.output.line(`Took back ${result.undone.join(", ")}.`);
    return 0;
  });

const WHY = {
  nothing: "There is nothing to take back",
  "unknown-change": 'There is no such change: "palimpsest memory history" lists them',
  "already-undone": "It was taken back already",
  erased: "It was erased for good",
  "changed-since": "What it changed has been changed again since",
} as const;
