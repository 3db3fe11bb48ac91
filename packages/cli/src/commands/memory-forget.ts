import type { Fact } from "@palimpsest/core/memory";
import { forgetEverywhere } from "palimpsest/internal/memory";
import type { Printing, Remote, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { noteScrubbed } from "../home/home.ts";
import { factId, remoteFactId } from "../home/memory-fact.ts";
import { type MemoryOptions, withMemory } from "../home/memory-home.ts";
import { printable } from "../terminal/terminal-text.ts";

interface Options extends MemoryOptions {
  readonly redact?: boolean;
}

export const run: Run<Options> = (input, context) =>
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
    const document = { forgotten: facts.map(({ id }) => id), fenced, evidence, redacted, busy };
    return show(document, context, { ids, contents: new Map(facts.map(({ id, content }) => [id, content])) });
  });

export const remote: Remote<Options> = async ({ positionals, options: { agent, redact } }, context) => {
  const { server } = context;
  const { facts } = await server.get<{ facts: readonly Fact[] }>("/api/memory/facts", { agent });
  const ids: string[] = [];
  for (const target of positionals) ids.push(await remoteFactId(context, target, agent));
  const query = { agent, redact: redact === true ? "true" : undefined };
  const parts: Forgotten[] = [];
  for (const id of ids) parts.push(await server.send("DELETE", `/api/memory/facts/${id}`, {}, query));
  const all = (part: keyof Forgotten) => [...new Set(parts.flatMap((one) => one[part]))];
  const document = {
    forgotten: all("forgotten"),
    fenced: all("fenced"),
    evidence: all("evidence"),
    redacted: all("redacted"),
    busy: all("busy"),
  };
  return show(document, context, { ids, contents: new Map(facts.map(({ id, content }) => [id, content])) });
};

interface Forgotten {
  readonly forgotten: readonly string[];
  readonly fenced: readonly string[];
  readonly evidence: readonly string[];
  readonly redacted: readonly string[];
  readonly busy: readonly string[];
}

interface Asked {
  readonly ids: readonly string[];
  readonly contents: ReadonlyMap<string, string>;
}

async function show(document: Forgotten, { format, output }: Printing, { ids, contents }: Asked): Promise<number> {
  const { forgotten, fenced, evidence, redacted, busy } = document;
  if (format === "json") {
    await output.json(document);
    return busy.length === 0 ? 0 : 1;
  }
  for (const id of ids.filter((one) => !forgotten.includes(one)))
    await output.line(`Forgotten before, and erased now: ${id}.`);
  for (const id of forgotten) await output.line(`Forgot ${id}: ${printable(contents.get(id) ?? "")}`);
  if (fenced.length > 0) await output.line(`Nothing is learned again from ${fenced.join(", ")}.`);
  if (evidence.length > 0) await output.line(`No longer in the prompt of ${evidence.join(", ")}.`);
  if (redacted.length > 0) await output.line(`Erased ${redacted.join(", ")}.`);
  for (const threadId of busy)
    output.note(`Thread "${threadId}" is in use and still shows it: forget again when it has ended.`);
  return busy.length === 0 ? 0 : 1;
}
