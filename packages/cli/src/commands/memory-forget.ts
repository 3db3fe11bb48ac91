import { forgetEverywhere } from "palimpsest/internal/memory";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { noteScrubbed } from "../home/home.ts";
import { factId } from "../home/memory-fact.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

export const run: Run<MemoryOptions & { readonly redact?: boolean }> = (input, context) =>
  withMemory(input, context, async (memory) => {
    const { service, scope, home } = memory;
    const ids: string[] = [];
    const turns = input.options.redact ? "redact" : "keep";
    for (const target of input.positionals)
      ids.push(await factId(memory, target, turns === "redact" ? "and-forgotten" : "known"));
    const nowhere = { evidence: [], redacted: [], busy: [], scrubbed: { kind: "clean" } as const };
    const done =
      home === null
        ? { ...nowhere, ...(await service.forget(scope, ids, turns === "redact" ? "erase" : "keep-history")) }
        : await forgetEverywhere(await home.eraseDeps(), service, { scope, ids, turns });
    if (done.kind === "unknown-fact")
      throw new Failure("unknown-fact", `There is no fact "${done.id}": "palimpsest memory show" lists them.`);
    const { facts, fenced, evidence, redacted, busy, scrubbed } = done;
    noteScrubbed(context, scrubbed);
    if (context.format === "json") {
      await context.output.json({ forgotten: facts.map(({ id }) => id), fenced, evidence, redacted, busy });
      return busy.length === 0 ? 0 : 1;
    }
    const before = ids.filter((id) => !facts.some((fact) => fact.id === id));
    for (const id of before) await context.output.line(`Forgotten before, and erased now: ${id}.`);
    for (const { id, content } of facts) await context.output.line(`Forgot ${id}: ${printable(content)}`);
    if (fenced.length > 0) await context.output.line(`Nothing is learned again from ${fenced.join(", ")}.`);
    if (evidence.length > 0) await context.output.line(`No longer in the prompt of ${evidence.join(", ")}.`);
    if (redacted.length > 0) await context.output.line(`Erased ${redacted.join(", ")}.`);
    for (const threadId of busy)
      context.output.note(`Thread "${threadId}" is in use and still shows it: forget again when it has ended.`);
    return busy.length === 0 ? 0 : 1;
  });
