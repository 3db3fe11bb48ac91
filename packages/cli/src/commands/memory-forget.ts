import { forgetEverywhere } from "palimpsest/memory";
import type { Run } from "../command.ts";
import { Failure } from "../failure.ts";
import { factId } from "../memory-fact.ts";
import { withMemory } from "../memory-home.ts";
import { printable } from "../table.ts";

export const run: Run = (input, context) =>
  withMemory(input, context, async (memory) => {
    const { service, scope, means } = memory;
    const ids: string[] = [];
    for (const given of input.positionals) ids.push(await factId(memory, given));
    const turns = input.options["redact"] === true ? "redact" : "keep";
    const nowhere = { evidence: [], redacted: [], busy: [] };
    const done =
      means === null
        ? { ...nowhere, ...(await service.forget(scope, ids, turns === "redact" ? "erase" : "keep-history")) }
        : await forgetEverywhere(means, service, { scope, ids, turns });
    if (done.kind === "unknown-fact")
      throw new Failure("unknown-fact", `There is no fact "${done.id}": "palimpsest memory show" lists them.`);
    const { facts, fenced, evidence, redacted, busy } = done;
    if (context.format === "json") {
      await context.output.json({ forgotten: facts.map(({ id }) => id), fenced, evidence, redacted, busy });
      return busy.length === 0 ? 0 : 1;
    }
    for (const { id, content } of facts) await context.output.line(`Forgot ${id}: ${printable(content)}`);
    if (fenced.length > 0) await context.output.line(`Nothing is learned again from ${fenced.join(", ")}.`);
    if (evidence.length > 0) await context.output.line(`No longer in the prompt of ${evidence.join(", ")}.`);
    if (redacted.length > 0) await context.output.line(`Erased ${redacted.join(", ")}.`);
    for (const thread of busy)
      context.output.note(`Thread "${thread}" is in use and still shows it: forget again when it has ended.`);
    return busy.length === 0 ? 0 : 1;
  });
