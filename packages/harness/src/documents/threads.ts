/** Threads as JSON: a row of the list, everything said, the verdict on the chain. */
import type { ImportOutcome } from "../import/import-file.ts";
import type { ThreadSummary } from "../stores/store.ts";
import { replay, type Verified } from "../threads/audit.ts";
import type { ThreadDeps } from "../threads/writer.ts";

export function threadDocument({ header, title, messages, updatedAt }: ThreadSummary) {
  return {
    id: header.id,
    title,
    messages,
    updatedAt,
    parent: header.parent,
    forkedAt: header.forkedAt,
    user: header.user,
    agent: header.agent,
    kind: header.kind,
  };
}

/** One document, written as it is read; bodies go in as they are stored. */
export async function* replayDocument(deps: ThreadDeps, threadId: string): AsyncGenerator<string> {
  const seqs: number[] = [];
  for await (const { dialect, body, seq } of replay(deps, threadId)) {
    yield seqs.length === 0 ? opening(threadId, dialect) : ",\n";
    yield body;
    seqs.push(seq);
  }
  if (seqs.length === 0) yield opening(threadId, null);
  yield `\n],"seqs":${JSON.stringify(seqs)}}\n`;
}

function opening(threadId: string, dialect: string | null): string {
  return `{"thread":${JSON.stringify(threadId)},"dialect":${JSON.stringify(dialect)},"messages":[\n`;
}

export function verifyDocument(verdict: Exclude<Verified, { readonly kind: "missing" }>) {
  const { records, redacted } = verdict;
  const firstBad = verdict.kind === "broken" ? verdict.firstBad : null;
  return { ok: firstBad === null, records, redacted, ...(firstBad !== null && { firstBad }) };
}

export function importDocument(threadId: string, outcome: Extract<ImportOutcome, { readonly kind: "imported" }>) {
  const { kind: _, ...told } = outcome;
  return { thread: threadId, ...told };
}
