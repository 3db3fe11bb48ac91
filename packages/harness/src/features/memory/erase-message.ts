/**
 * Erasing a message with everything that was made of it: what quotes it in any log of its user, the facts that were
 * learned from it, where those were shown, where it was looked up, copies in sub-agents' threads, files. Each step can be
 * run again, in an order in which a later run still finds what an earlier one left. Says what it did, and what is left to
 * do.
 */

import type { EvidenceRecord, ThreadHeader } from "@palimpsest/core/internal/log";
import type { Fact, MemoryErasure } from "@palimpsest/core/internal/memory";
import { bindTurns, escapeLine, meaning, planMemoryErasure } from "@palimpsest/core/internal/memory";
import { readTurns } from "../../recall/search.ts";
import { refOf } from "../../recall/stored-index.ts";
import { asUser, everyThread, scrub } from "../../stores/driver-rules.ts";
import type { Scrubbed } from "../../stores/store.ts";
import { withWriter } from "../../thread/acts.ts";
import { eraseFacts, type Redacted, redact, wordsOf } from "../../thread/redact.ts";
import { commit, type ThreadDeps } from "../../thread/writer.ts";
import { checkScope, type MemoryScope, type Repository } from "./repository.ts";
import type { Forgotten, MemoryService } from "./service.ts";
import { childCopies, DROP_EVIDENCE, dropStaleTurns, echoesOf } from "./source-turns.ts";

export interface EraseDeps {
  readonly deps: ThreadDeps;
  /** Null: nothing is remembered. */
  readonly repository: Repository | null;
  /** Brings a thread's files in line with its log; null: there are none. */
  readonly cleanFiles: ((threadId: string) => Promise<void>) | null;
}

type ErasureDone = Extract<Redacted, { readonly threads: readonly string[] }>;

export type ErasedMessage =
  | (ErasureDone & {
      /** Results of lookups that showed it and copies in sub-agents' threads, as `thread#seq`: erased whole. */
      readonly repeatedIn: readonly string[];
      /** Facts that were learned from it, by id, and other threads that showed them. */
      readonly facts: readonly string[];
      readonly shownIn: readonly string[];
      /** Threads in use, where something is left to be done. */
      readonly busy: readonly string[];
      /** Copies of a memory that could not be read, deleted because they held it. */
      readonly copies: readonly string[];
      readonly scrubbed: Scrubbed;
    })
  | Exclude<Redacted, ErasureDone>;

export async function eraseMessage(context: EraseDeps, threadId: string, seq: number): Promise<ErasedMessage> {
  const { deps, cleanFiles } = context;
  const header = await deps.store.header(threadId);
  if (header === undefined) return { kind: "missing" };
  // Before the message is erased: its words are needed.
  const words = await readTurns(deps.store, [`${threadId}#${seq}`]);
  const own = await wordsOf(deps, threadId, seq);
  const repeats = [
    ...(await childCopies(deps, threadId, seq)).map((copy) => ({ ...copy, options: {} })),
    // A lookup shows other messages, too, whose words stay wherever else they are.
    ...(await echoesOf(deps, threadId, seq)).map((echo) => ({ ...echo, options: { words: own } })),
  ];
  const copied = new Set<string>();
  const repeatedIn: string[] = [];
  for (const { options, ...copy } of repeats) {
    const result = await redact(deps, copy.threadId, copy.seq, options);
    if (result.kind === "busy") return result;
    copied.add(copy.threadId);
    if (result.kind === "redacted") repeatedIn.push(refOf(copy));
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
  const learned = { facts: [...memory.ids], copies: memory.copies };
  return { ...redacted, ...learned, repeatedIn, shownIn, busy: erased.busy, scrubbed };
}

interface ErasedMemory extends Pick<MemoryErasure, "ids" | "contents" | "sections"> {
  readonly copies: readonly string[];
}

/** What logs know erased facts by. */
function namesOf({ ids, contents, sections }: Pick<MemoryErasure, "ids" | "contents" | "sections">) {
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

/*
 * Forgetting with everything that follows from it: the facts go, their source turns are fenced from extraction, evidence
 * that cites them leaves the prompts. On request the words are erased: from the audit, from every log that showed
 * them, and with the source turns themselves. Says what it did.
 */

export interface ForgottenEverywhere extends Forgotten {
  /** Threads whose prompts showed it and no longer do. */
  readonly evidence: readonly string[];
  /** Turns that were erased, other facts that went with them, and threads in use, where something is left to do. */
  readonly redacted: readonly string[];
  readonly alsoForgotten: readonly string[];
  readonly busy: readonly string[];
  readonly scrubbed: Scrubbed;
}

export interface ForgetRequest {
  readonly scope: MemoryScope;
  readonly ids: readonly string[];
  readonly turns: "keep" | "redact";
}

export async function forgetEverywhere(
  given: EraseDeps,
  service: MemoryService,
  request: ForgetRequest,
): Promise<ForgottenEverywhere | { readonly kind: "unknown-fact"; readonly id: string }> {
  const { scope, ids, turns } = request;
  const deps = { ...given.deps, store: asUser(given.deps.store, scope.userId) };
  const context = { ...given, deps };
  if (context.repository !== null) await dropStaleTurns(deps.store, context.repository, scope);
  const forgotten = await service.forget(scope, ids, turns === "redact" ? "erase" : "keep-history");
  if (forgotten.kind === "unknown-fact") return forgotten;
  if (turns === "redact") return eraseEverywhere(context, request, forgotten);
  const busy = new Set<string>();
  const gone = new Set([...forgotten.facts.map(({ id }) => id), ...forgotten.fenced]);
  const evidence: string[] = [];
  for (const threadId of await threadsWithEvidence(context.deps, gone)) {
    const write = await withWriter(context.deps, threadId, (writer) => commit(writer, [DROP_EVIDENCE]));
    if (write.kind === "done" && write.value.kind === "committed") evidence.push(threadId);
    else busy.add(threadId);
  }
  return { ...forgotten, evidence, redacted: [], alsoForgotten: [], busy: [...busy], scrubbed: { kind: "clean" } };
}

async function eraseEverywhere(
  context: EraseDeps,
  { scope, ids }: ForgetRequest,
  forgotten: Forgotten,
): Promise<ForgottenEverywhere> {
  const { deps, repository, cleanFiles } = context;
  const { facts, fenced } = forgotten;
  const gone = new Set([...ids, ...facts.map(({ id }) => id)]);
  const contents = facts.map(({ content }) => content);
  await repository?.storage.forgetCopies?.(scope, [...gone, ...contents]);
  // Forgotten before, its words are no longer known, nor whether a section said them: all that was shown goes.
  const sections = gone.size > facts.length;
  const erased = await eraseFacts(deps, namesOf({ ids: new Set([...gone, ...fenced]), contents, sections }));
  const busy = new Set(erased.busy);
  const [redacted, alsoForgotten]: [string[], string[]] = [[], []];
  for (const ref of fenced) {
    const at = ref.lastIndexOf("#");
    const threadId = ref.slice(0, at);
    // A memory that came from elsewhere names its sources as it likes.
    if (at === -1 || (await deps.store.header(threadId)) === undefined) continue;
    const result = await eraseMessage(context, threadId, Number(ref.slice(at + 1)));
    if (result.kind === "busy") busy.add(result.threadId);
    if (!("threads" in result)) continue;
    redacted.push(ref);
    alsoForgotten.push(...result.facts.filter((id) => !gone.has(id)));
    for (const threadId of result.busy) busy.add(threadId);
  }
  for (const threadId of erased.threads) await cleanFiles?.(threadId);
  const scrubbed = await scrub(deps.store);
  return { ...forgotten, evidence: erased.threads, redacted, alsoForgotten, busy: [...busy], scrubbed };
}

async function threadsWithEvidence({ store }: ThreadDeps, gone: ReadonlySet<string>): Promise<string[]> {
  const threads: string[] = [];
  for await (const { header } of everyThread(store)) {
    const head = await store.head(header.id);
    for (const seq of head?.evidence ?? []) {
      for await (const { record } of store.records(header.id, { range: [seq, seq] })) {
        const ids = (record as EvidenceRecord).ids ?? [];
        if (ids.some((id) => gone.has(id)) && !threads.includes(header.id)) threads.push(header.id);
      }
    }
  }
  return threads;
}
