/**
 * Forgetting with everything that follows from it: the facts go, their source turns are fenced from extraction, evidence
 * that cites them leaves the prompts. On request the words are erased: from the audit, from every log that showed
 * them, and with the source turns themselves. Says what it did.
 */
import type { EvidenceRecord } from "@palimpsest/core/log";
import { scrub } from "../stores/capabilities.ts";
import type { Scrubbed } from "../stores/store.ts";
import { asUser, everyThread } from "../stores/users.ts";
import { withWriter } from "../thread/acts.ts";
import { eraseFacts } from "../thread/redact.ts";
import { commit, type ThreadDeps } from "../thread/writer.ts";
import { type EraseDeps, eraseMessage, namesOf } from "./erase-message.ts";
import type { MemoryScope } from "./scope.ts";
import type { Forgotten, MemoryService } from "./service.ts";
import { dropStaleTurns } from "./source-turns.ts";

export interface ForgottenEverywhere extends Forgotten {
  /** Threads whose prompts showed it and no longer do. */
  readonly evidence: readonly string[];
  /** Turns that were erased, and threads that were in use so that something is left to do. */
  readonly redacted: readonly string[];
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
    // An empty batch: evidence is dropped at each one.
    const drop = { kind: "prune", entries: [], tokensBefore: 0, tokensAfter: 0 } as const;
    const write = await withWriter(context.deps, threadId, (writer) => commit(writer, [drop]));
    if (write.kind === "done" && write.value.kind === "committed") evidence.push(threadId);
    else busy.add(threadId);
  }
  return { ...forgotten, evidence, redacted: [], busy: [...busy], scrubbed: { kind: "clean" } };
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
  const redacted: string[] = [];
  for (const ref of fenced) {
    const at = ref.lastIndexOf("#");
    const threadId = ref.slice(0, at);
    // A memory that came from elsewhere names its sources as it likes.
    if (at === -1 || (await deps.store.header(threadId)) === undefined) continue;
    const result = await eraseMessage(context, threadId, Number(ref.slice(at + 1)));
    if (result.kind === "busy") busy.add(result.threadId);
    if (!("threads" in result)) continue;
    redacted.push(ref);
    for (const threadId of result.busy) busy.add(threadId);
  }
  for (const threadId of erased.threads) await cleanFiles?.(threadId);
  const scrubbed = await scrub(deps.store);
  return { ...forgotten, evidence: erased.threads, redacted, busy: [...busy], scrubbed };
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
