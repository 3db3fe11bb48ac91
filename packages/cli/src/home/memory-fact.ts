/** What the commands on facts share: which one is meant, its options, and what to say when it is refused. */
import type { Fact } from "@palimpsest/core/memory";
import type { NewFact } from "palimpsest/memory";
import type { Input, RemoteContext } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import type { MemoryOptions, OpenMemory } from "./memory-home.ts";

export interface FactOptions extends MemoryOptions {
  readonly category?: string;
  readonly confidence?: string;
}

export function factOptions({ options }: Input<FactOptions>): Pick<NewFact, "category" | "confidence"> {
  const { category, confidence } = options;
  if (confidence !== undefined && (!/^(?:0|1|0?\.\d+|[01]\.\d+)$/.test(confidence) || Number(confidence) > 1))
    throw new UsageError(`--confidence must be a number from 0 to 1, not ${JSON.stringify(confidence)}.`);
  return {
    ...(category !== undefined && { category }),
    ...(confidence !== undefined && { confidence: Number(confidence) }),
  };
}

export const REFUSED = {
  empty: "There is no word in it: say what is to be remembered.",
  "too-long": "A fact has at most 500 characters: say it shorter, or as several facts.",
} as const;

/** Ids are long: a beginning will do, from four characters on, where only one fact has it. */
export async function factId(
  { service, scope }: OpenMemory,
  name: string,
  which: "known" | "and-forgotten" = "known",
): Promise<string> {
  const { facts } = await service.show(scope);
  const forgotten = (which === "known" ? [] : await service.history(scope)).filter(({ kind }) => kind === "forget");
  return meantId([...facts.map(({ id }) => id), ...forgotten.map(({ target }) => target)], name);
}

/** The same of a gateway's. */
export async function remoteFactId(
  { server }: RemoteContext,
  name: string,
  agentName: string | undefined,
): Promise<string> {
  const { facts } = await server.get<{ facts: readonly Fact[] }>("/api/memory/facts", { agent: agentName });
  return meantId(
    facts.map(({ id }) => id),
    name,
  );
}

function meantId(known: readonly string[], name: string): string {
  const ids = [...new Set(known)];
  if (ids.includes(name)) return name;
  const meant = name.length < 4 ? [] : ids.filter((id) => id.startsWith(name));
  if (meant.length === 1) return meant[0]!;
  if (meant.length > 1)
    throw new Failure("ambiguous", `${meant.length} facts begin with "${name}": give more of the id.`);
  throw new Failure("unknown-fact", `There is no fact "${name}": "palimpsest memory show" lists them.`);
}
