/**
 * Erasing a message with everything that was made of it: what quotes it in any log of its user, the facts that were
 * learned from it, where those were shown, where it was looked up, copies in sub-agents' threads, files. Each step can be run again, in an order in
 * which a later run still finds what an earlier one left. Says what it did, and what is left to do.
 */

import { bindTurns, escapeLine, meaning, planMemoryErasure } from "@palimpsest/core/internal/memory";
import type { ThreadHeader } from "@palimpsest/core/log";
import type { Fact, MemoryErasure } from "@palimpsest/core/memory";
import { readTurns, refOf } from "../recall/messages.ts";
import { scrub } from "../stores/capabilities.ts";
import type { Scrubbed } from "../stores/store.ts";
import { eraseFacts, type Redacted, redact } from "../thread/redact.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { childCopies } from "./child-copies.ts";
import { echoesOf } from "./echoes.ts";
import type { Repository } from "./repository.ts";
import { checkScope, type MemoryScope } from "./scope.ts";
import { dropStaleTurns } from "./source-turns.ts";

export interface EraseDeps {
  readonly deps: ThreadDeps;
  /** Null: nothing is remembered. */
  readonly repository: Repository | null;
  /** Brings a thread's files in line with its log; null: there are none. */
  readonly cleanFiles: ((threadId: string) => Promise<void>) | null;
}

type Done = Extract<Redacted, { readonly threads: readonly string[] }>;

export type ErasedMessage =
  | (Done & {
      /** Facts that were learned from it, by id, and other threads that showed them. */
      readonly facts: readonly string[];
      readonly shownIn: readonly string[];
      /** Threads in use, where something is left to be done. */
      readonly busy: readonly string[];
      /** Copies of a memory that could not be read, deleted because they held it. */
      readonly copies: readonly string[];
      readonly scrubbed: Scrubbed;
    })
  | Exclude<Redacted, Done>;

export async function eraseMessage(context: EraseDeps, threadId: string, seq: number): Promise<ErasedMessage> {
  const { deps, cleanFiles } = context;
  const header = await deps.store.header(threadId);
  if (header === undefined) return { kind: "missing" };
  // Before the message itself: afterwards nobody knows its words.
  const words = await readTurns(deps.store, [`${threadId}#${seq}`]);
  const copied: string[] = [];
  for (const copy of [...(await childCopies(deps, threadId, seq)), ...(await echoesOf(deps, threadId, seq))]) {
    const result = await redact(deps, copy.threadId, copy.seq);
    if (result.kind === "busy") return result;
    copied.push(copy.threadId);
  }
  const redacted = await redact(deps, threadId, seq);
  if (!("threads" in redacted)) return redacted;
  const { threads, evidenceIn } = redacted;
  const refs = new Set(threads.map((sharer) => `${sharer}#${seq}`));
  const memory = await eraseFromMemory(context, header, {
    refs,
    id: redacted.id,
    words: words.map(({ text }) => text).join("\n"),
  });
  const erased = await eraseFacts(deps, namesOf(memory));
  for (const one of new Set([...threads, ...evidenceIn, ...copied, ...erased.threads])) await cleanFiles?.(one);
  const scrubbed = await scrub(deps.store);
  const shownIn = erased.threads.filter((one) => !threads.includes(one) && !evidenceIn.includes(one));
  return { ...redacted, facts: [...memory.ids], shownIn, busy: erased.busy, copies: memory.copies, scrubbed };
}

interface ErasedMemory extends Pick<MemoryErasure, "ids" | "contents" | "sections"> {
  readonly copies: readonly string[];
}

/** What logs know erased facts by. */
export function namesOf({ ids, contents, sections }: Pick<MemoryErasure, "ids" | "contents" | "sections">) {
  const texts = [...contents, ...contents.map(escapeLine)];
  return { names: ids, texts, blocks: sections ? ("all" as const) : ("named" as const) };
}

/** In every document of the user: an agent's own began as a copy of the user's. */
async function eraseFromMemory(
  { deps, repository }: EraseDeps,
  { user, agent }: ThreadHeader,
  { refs, words, id }: { readonly refs: ReadonlySet<string>; readonly words: string; readonly id: string },
): Promise<ErasedMemory> {
  const turns = [...refs].map((ref) => ({ ref, id }));
  const ids = new Set<string>();
  const contents: string[] = [];
  const copies: string[] = [];
  let sections = false;
  const checked = checkScope(user, agent);
  if (repository === null || checked.kind === "invalid") return { ids, contents, sections, copies };
  for (const scope of await scopesOf(repository, checked.scope)) {
    await dropStaleTurns(deps.store, repository, scope);
    const document = await repository.storage.reload(scope);
    if (document === null) continue;
    const carried = await carriedBy(deps, document.facts, { refs, words });
    await repository.change(
      scope,
      (now) => {
        const plan = planMemoryErasure(now, { refs, carried });
        for (const id of plan.ids) ids.add(id);
        contents.push(...plan.contents);
        sections ||= plan.sections;
        return plan.done ? null : { ...plan, also: (next) => bindTurns(plan.also(next), turns) };
      },
      "manual",
    );
    const texts = [...refs, ...ids, ...contents];
    copies.push(...((await repository.storage.forgetCopies?.(scope, texts)) ?? []));
  }
  return { ids, contents, sections, copies };
}

async function scopesOf({ storage }: Repository, { userId, agentName }: MemoryScope): Promise<readonly MemoryScope[]> {
  const own = [{ userId, agentName: null }, ...(agentName === null ? [] : [{ userId, agentName }])];
  return (await storage.scopes?.(userId)) ?? own;
}

/** Whether other turns say by themselves all that a fact took from the words that go. */
async function carriedBy(
  { store }: ThreadDeps,
  facts: readonly Fact[],
  { refs, words }: { readonly refs: ReadonlySet<string>; readonly words: string },
): Promise<(fact: Fact) => boolean> {
  const sources = facts.map(({ sourceMessageIds = [] }) => sourceMessageIds);
  const others = sources
    .filter((list) => list.some((ref) => refs.has(ref)))
    .flat()
    .filter((ref) => !refs.has(ref));
  const meanings = new Map(
    (await readTurns(store, [...new Set(others)])).map((turn) => [refOf(turn), meaning(turn.text)]),
  );
  const gone = meaning(words);
  return ({ content, sourceMessageIds = [] }) => {
    const left = sourceMessageIds.flatMap((ref) => [...(meanings.get(ref) ?? [])]);
    return words !== "" && [...meaning(content)].every((term) => !gone.has(term) || left.includes(term));
  };
}
