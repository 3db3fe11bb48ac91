/**
 * Forgetting with everything that follows from it: the facts go, their source turns are fenced from extraction, evidence
 * that was lent with them leaves the prompts, and on request the turns themselves are erased. Says what it did.
 */
import type { EvidenceRecord } from "@palimpsest/core/log";
import { withWriter } from "../threads/acts.ts";
import { redact } from "../threads/redact.ts";
import { commit, type Means } from "../threads/writer.ts";
import type { MemoryScope } from "./scope.ts";
import type { Forgotten, MemoryService } from "./service.ts";

export interface ForgottenEverywhere extends Forgotten {
  /** Threads whose prompts showed it as evidence and no longer do. */
  readonly evidence: readonly string[];
  /** Turns that were erased, and threads that were in use so that something is left to do. */
  readonly redacted: readonly string[];
  readonly busy: readonly string[];
}

export async function forgetEverywhere(
  means: Means,
  service: MemoryService,
  request: { readonly scope: MemoryScope; readonly ids: readonly string[]; readonly turns: "keep" | "redact" },
): Promise<ForgottenEverywhere | { readonly kind: "unknown-fact"; readonly id: string }> {
  const { scope, ids, turns } = request;
  const forgotten = await service.forget(scope, ids, turns === "redact" ? "erase" : "keep-history");
  if (forgotten.kind === "unknown-fact") return forgotten;
  const busy = new Set<string>();
  const gone = new Set([...forgotten.facts.map(({ id }) => id), ...forgotten.fenced]);
  const evidence: string[] = [];
  for (const thread of await threadsWithEvidence(means, gone)) {
    // An empty batch: evidence is dropped at each one.
    const drop = { kind: "prune", entries: [], tokensBefore: 0, tokensAfter: 0 } as const;
    const held = await withWriter(means, thread, (writer) => commit(writer, [drop]));
    if (held.kind === "done" && held.value.kind === "committed") evidence.push(thread);
    else busy.add(thread);
  }
  const redacted: string[] = [];
  for (const ref of turns === "redact" ? forgotten.fenced : []) {
    const [thread = "", seq = ""] = ref.split("#");
    const result = await redact(means, thread, Number(seq));
    if (result.kind === "redacted" || result.kind === "already-redacted") redacted.push(ref);
    else if (result.kind === "busy") busy.add(result.thread);
  }
  return { ...forgotten, evidence, redacted, busy: [...busy] };
}

async function threadsWithEvidence({ store }: Means, gone: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.threads({ limit: 200, order: "created", ...(after !== undefined && { after }) });
    for (const { header } of page.threads) {
      const head = await store.head(header.id);
      for (const seq of head?.evidence ?? []) {
        for await (const { record } of store.records(header.id, { range: [seq, seq] })) {
          const lent = (record as EvidenceRecord).ids ?? [];
          if (lent.some((id) => gone.has(id)) && !found.includes(header.id)) found.push(header.id);
        }
      }
    }
    if (page.next === null) return found;
    after = page.next;
  }
}
