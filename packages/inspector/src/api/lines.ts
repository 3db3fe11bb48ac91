/** The words of messages, as far as they are looked at: asked for once, in batches, and held while the thread is open. */
import { signal } from "@preact/signals";
import { type AskAnswer, ask } from "./ask.ts";

export type StreamLine = AskAnswer<"GET /api/threads/{id}/lines">["lines"][number];

interface HeldLines {
  readonly threadId: string;
  readonly bySeq: ReadonlyMap<number, StreamLine>;
}

/** How often what was known was forgotten: what is in sight then has to be asked for again. */
export const linesForgotten = signal(0);

const held = signal<HeldLines>({ threadId: "", bySeq: new Map() });
const asked = new Set<number>();

/** What is known of them; a component that reads it is drawn again when more is. */
export function linesOf(threadId: string): ReadonlyMap<number, StreamLine> {
  return held.value.threadId === threadId ? held.value.bySeq : NONE;
}

const NONE: ReadonlyMap<number, StreamLine> = new Map();
const BATCH = 100;

export async function wantLines(threadId: string, seqs: readonly number[]): Promise<void> {
  if (held.peek().threadId !== threadId) forgetLines(threadId);
  const wanted = seqs.filter((seq) => !asked.has(seq));
  for (const seq of wanted) asked.add(seq);
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH);
    const outcome = await ask("GET /api/threads/{id}/lines", {
      params: { id: threadId },
      query: { seqs: batch.join(",") },
    });
    if (held.peek().threadId !== threadId) return;
    if (outcome.kind === "failed") for (const seq of batch) asked.delete(seq);
    else addLines(threadId, outcome.value.lines);
  }
}

function addLines(threadId: string, lines: readonly StreamLine[]): void {
  if (held.peek().threadId !== threadId) forgetLines(threadId);
  const bySeq = new Map(held.peek().bySeq);
  for (const line of lines) bySeq.set(line.seq, line);
  held.value = { threadId, bySeq };
}

/** After a redaction, or for another thread. */
export function forgetLines(threadId: string): void {
  asked.clear();
  linesForgotten.value += 1;
  held.value = { threadId, bySeq: new Map() };
}
