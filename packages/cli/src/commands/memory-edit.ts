import { SECTION_PATHS } from "@palimpsest/core/memory";
import type { Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { type FactOptions, factId, factOptions, REFUSED } from "../home/memory-fact.ts";
import { withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<FactOptions> = (input, context) =>
  withMemory(input, context, async (memory) => {
    const { service, scope } = memory;
    const [target = "", text] = input.positionals;
    const section = SECTION_PATHS.find((path) => path === target);
    if (section === undefined && /^(?:userContext|history)\b/.test(target))
      throw new UsageError(`There is no section "${target}": there are ${SECTION_PATHS.join(", ")}.`);
    if (section !== undefined) {
      if (text === undefined) throw new UsageError(`TEXT is missing. Usage: palimpsest memory edit ${target} TEXT`);
      await service.rewrite(scope, section, text);
      if (context.format === "json") await context.output.json({ kind: "edited", section });
      else await context.output.line(`Rewrote ${section}.`);
      return 0;
    }
    const change = { ...(text !== undefined && { content: text }), ...factOptions(input) };
    if (Object.keys(change).length === 0)
      throw new UsageError("Nothing to change: give a new TEXT, --category or --confidence.");
    const id = await factId(memory, target);
    const edited = await service.edit(scope, id, change);
    if (edited.kind === "refused") {
      if (edited.reason === "unknown-fact")
        throw new Failure("unknown-fact", `There is no fact "${id}": "palimpsest memory show" lists them.`);
      throw new Failure(edited.reason, REFUSED[edited.reason]);
    }
    if (context.format === "json") await context.output.json({ kind: "edited", fact: edited.fact });
    else await context.output.line(`Changed ${id}: ${printable(edited.fact.content)}`);
    return 0;
  });
