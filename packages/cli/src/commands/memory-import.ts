import { readFileSync } from "node:fs";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";

export const run: Run<MemoryOptions> = (input, context) =>
  withMemory(input, context, async ({ service, scope }) => {
    const path = input.positionals[0]!;
    const imported = await service.import(scope, read(path));
    if (imported.kind === "unreadable")
      throw new Failure("unreadable", `${path} is no memory.json: ${imported.reason}. Nothing was imported.`);
    const { facts, known, sections, notes } = imported;
    for (const note of notes) context.output.note(note);
    if (context.format === "json") await context.output.json({ imported: facts, known, sections });
    else await context.output.line(`Imported ${facts} facts and ${sections} sections; ${known} were known.`);
    return 0;
  });

function read(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure(
      "unreadable",
      `Can't read ${path} (${(error as NodeJS.ErrnoException).code}): give the path of a file.`,
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure("unreadable", `${path} is not JSON. Nothing was imported.`);
  }
}
