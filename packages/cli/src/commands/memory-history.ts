import type { MemoryService } from "palimpsest/memory";
import type { Printing, Remote, Run } from "../command/command.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";
import { table } from "../terminal/table.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<MemoryOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => show(await service.history(scope), context));

export const remote: Remote<MemoryOptions> = async ({ options: { agent } }, context) => {
  const { changes } = await context.server.get<{ changes: Changes }>("/api/memory/history", { agent });
  return show(changes, context);
};

type Changes = Awaited<ReturnType<MemoryService["history"]>>;

async function show(changes: Changes, context: Printing): Promise<number> {
  if (context.format === "json") {
    await context.output.json({ changes });
    return 0;
  }
  if (changes.length === 0) context.output.note("Nothing was changed yet.");
  const rows = changes.map(({ id, at, by, kind, sources, before, after, target }) => {
    const words = after ?? before ?? target;
    const text = typeof words === "string" ? words : words.content;
    return [id, at, by, kind, sources.join(" ") || "-", printable(text).slice(0, 80)];
  });
  if (rows.length > 0) await context.output.line(table(["CHANGE", "AT", "BY", "WHAT", "SOURCES", "TEXT"], rows));
  return 0;
}
