import { readFileSync } from "node:fs";
import type { Printing, Remote, Run } from "../command/command.ts";
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
    return show({ imported: facts, known, sections }, context);
  });

export const remote: Remote<MemoryOptions> = async ({ positionals, options: { agent } }, context) =>
  show(await context.server.send("POST", "/api/memory/import", read(positionals[0]!) as object, { agent }), context);

interface Imported {
  readonly imported: number;
  readonly known: number;
  readonly sections: number;
}

async function show(document: Imported, { format, output }: Printing): Promise<number> {
  const { imported, known, sections } = document;
  if (format === "json") await output.json(document);
  else await output.line(`Imported ${imported} facts and ${sections} sections; ${known} were known.`);
  return 0;
}

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
