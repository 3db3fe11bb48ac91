import { type Fact, SECTION_PATHS, type SectionPath } from "@palimpsest/core/memory";
import type { MemoryService } from "palimpsest/memory";
import type { Input, Printing, Remote, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { type FactOptions, factId, factOptions, REFUSED, remoteFactId } from "../home/memory-fact.ts";
import { withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<FactOptions> = (input, context) =>
  withMemory(input, context, async (memory) => {
    const { service, scope } = memory;
    const meant = meantBy(input);
    if (meant.kind === "section") {
      await service.rewrite(scope, meant.section, meant.text);
      return showSection(meant.section, context);
    }
    const { target, change } = meant;
    const id = await factId(memory, target);
    const edited = await service.edit(scope, id, change);
    if (edited.kind === "refused") {
      if (edited.reason === "unknown-fact")
        throw new Failure("unknown-fact", `There is no fact "${id}": "palimpsest memory show" lists them.`);
      throw new Failure(edited.reason, REFUSED[edited.reason]);
    }
    return show({ kind: "edited", fact: edited.fact }, context);
  });

export const remote: Remote<FactOptions> = async (input, context) => {
  const { agent } = input.options;
  const meant = meantBy(input);
  if (meant.kind === "section") {
    await context.server.send("PUT", "/api/memory", { [meant.section]: meant.text }, { agent });
    return showSection(meant.section, context);
  }
  const id = await remoteFactId(context, meant.target, agent);
  return show(await context.server.send("PATCH", `/api/memory/facts/${id}`, meant.change, { agent }), context);
};

type Meant =
  | { readonly kind: "section"; readonly section: SectionPath; readonly text: string }
  | { readonly kind: "fact"; readonly target: string; readonly change: Parameters<MemoryService["edit"]>[2] };

function meantBy(input: Input<FactOptions>): Meant {
  const [target = "", text] = input.positionals;
  const section = SECTION_PATHS.find((path) => path === target);
  if (section === undefined && /^(?:userContext|history)\b/.test(target))
    throw new UsageError(`There is no section "${target}": there are ${SECTION_PATHS.join(", ")}.`);
  if (section !== undefined && text === undefined)
    throw new UsageError(`TEXT is missing. Usage: palimpsest memory edit ${target} TEXT`);
  if (section !== undefined) return { kind: "section", section, text: text ?? "" };
  const change = { ...(text !== undefined && { content: text }), ...factOptions(input) };
  if (Object.keys(change).length === 0)
    throw new UsageError("Nothing to change: give a new TEXT, --category or --confidence.");
  return { kind: "fact", target, change };
}

async function showSection(section: SectionPath, { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json({ kind: "edited", section });
  else await output.line(`Rewrote ${section}.`);
  return 0;
}

async function show(
  document: { readonly kind: "edited"; readonly fact: Fact },
  { format, output }: Printing,
): Promise<number> {
  if (format === "json") await output.json(document);
  else await output.line(`Changed ${document.fact.id}: ${printable(document.fact.content)}`);
  return 0;
}
