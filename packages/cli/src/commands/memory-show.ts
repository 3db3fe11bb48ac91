import { sectionText } from "@palimpsest/core/internal/memory";
import { type MemoryDocument, SECTION_PATHS } from "@palimpsest/core/memory";
import type { Printing, Remote, Run } from "../command/command.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<MemoryOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => show(await service.show(scope), context));

export const remote: Remote<MemoryOptions> = async ({ options: { agent } }, context) =>
  show(await context.server.get("/api/memory", { agent }), context);

async function show(document: MemoryDocument, context: Printing): Promise<number> {
  if (context.format === "json") {
    await context.output.json(document);
    return 0;
  }
  // By the name that `memory edit` takes.
  const lines = SECTION_PATHS.flatMap((path) => {
    const text = sectionText(document, path);
    return text === "" ? [] : [`${path}: ${printable(text)}`];
  });
  const facts = document.facts.map(({ id, content, category, confidence, validTo }) => {
    const ended = validTo === undefined ? "" : `, until ${validTo.slice(0, 10)}`;
    return `${id}  ${printable(content)} (${printable(category)}, ${confidence.toFixed(2)}${ended})`;
  });
  if (lines.length + facts.length === 0) context.output.note("Nothing is remembered yet.");
  for (const line of [...lines, ...facts]) await context.output.line(line);
  return 0;
}
