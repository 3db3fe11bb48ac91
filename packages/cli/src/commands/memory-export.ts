import type { Remote, Run } from "../command/command.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";

export const run: Run<MemoryOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    await context.output.json(await service.export(scope));
    return 0;
  });

export const remote: Remote<MemoryOptions> = async ({ options: { agent } }, { server, output }) => {
  await output.json(await server.get("/api/memory/export", { agent }));
  return 0;
};
