import type { Run } from "../command/command.ts";
import { withMemory } from "../home/memory-home.ts";

export const run: Run = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    await context.output.json(await service.export(scope));
    return 0;
  });
