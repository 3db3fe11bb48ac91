import type { Run } from "../command/command.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";

export const run: Run<MemoryOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    await context.output.json(await service.export(scope));
    return 0;
  });
