/** What acts on threads answer, as JSON. */
import type { ThreadOutcome } from "../compaction/thread-compactor.ts";
import type { ErasedMessage } from "../memory/erase-message.ts";
import type { Undone } from "../threads/acts.ts";

export function compactDocument(
  threadId: string,
  outcome: Exclude<ThreadOutcome, { readonly kind: "missing" }>,
  { dryRun }: { readonly dryRun: boolean },
) {
  return { thread: threadId, ...outcome, ...(dryRun && { dryRun }) };
}

export function undoneDocument(
  threadId: string,
  { kind, of, seq }: Extract<Undone, { readonly of: number; seq: number }>,
) {
  return kind === "undone" ? { thread: threadId, undone: of, seq } : { thread: threadId, redone: of, seq };
}

export function forkDocument(parent: string, { threadId, at }: { readonly threadId: string; readonly at: number }) {
  return { thread: threadId, parent, at };
}

export function pinDocument(threadId: string, seq: number, on: boolean) {
  return { thread: threadId, pinned: seq, on };
}

export function renameDocument(threadId: string, title: string) {
  return { thread: threadId, title };
}

export function deleteDocument(threadId: string) {
  return { thread: threadId, deleted: true as const };
}

export function redactDocument(
  threadId: string,
  result: Extract<ErasedMessage, { readonly threads: readonly string[] }>,
) {
  const { seq, bodies, threads, evidenceIn, facts, shownIn, copies } = result;
  const erased = { bodies, threads, lentTo: evidenceIn, facts, shownIn, copies };
  const left = result.scrubbed.kind === "held" ? result.scrubbed.file : null;
  return { thread: threadId, redacted: seq, ...erased, busy: result.busy, left };
}
