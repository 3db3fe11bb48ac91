/** Which hits of a search state something that memory has corrected since: the source turn, echoes of it, answers that rested on it. */
import {
  type AnsweredQuestion,
  type Correction,
  correctionOf,
  correctionsIn,
  namesOldValue,
} from "@palimpsest/core/internal/memory";
import type { MemoryDocument } from "@palimpsest/core/memory";
import { shapeOf } from "@palimpsest/core/message";
import { refOf } from "../recall/messages.ts";
import type { SearchHit } from "../recall/search.ts";
import type { Store } from "../stores/store.ts";
import { frozenIn } from "./stable-lane.ts";

/** By `refOf`. */
export async function correctedHits(
  store: Store,
  document: MemoryDocument,
  hits: readonly SearchHit[],
): Promise<ReadonlyMap<string, Correction>> {
  const corrections = correctionsIn(document);
  const corrected = new Map<string, Correction>();
  if (corrections.length === 0) return corrected;
  for (const hit of hits) {
    const turn = { ...hit, ref: refOf(hit) };
    // An answer may say nothing but the value: then the question before it says of what.
    const asked =
      hit.role === "assistant" && namesOldValue(corrections, hit.text) ? await questionOf(store, hit) : undefined;
    const correction = correctionOf(document, corrections, turn, asked);
    if (correction !== null) corrected.set(turn.ref, correction);
  }
  return corrected;
}

/** So far before an answer its question is looked for: between them stand evidence, states, calls and results. */
const REACH = 16;

async function questionOf(store: Store, { threadId, seq }: SearchHit): Promise<AnsweredQuestion | undefined> {
  let asked: AnsweredQuestion | undefined;
  const range = [Math.max(1, seq - REACH), seq - 1] as const;
  for await (const { record, redacted } of store.records(threadId, { range, kinds: ["message", "evidence"] })) {
    if (redacted) continue;
    if (record.kind === "evidence" && asked !== undefined) asked = { ...asked, shown: [...asked.shown, ...record.ids] };
    if (record.kind !== "message") continue;
    const shape = shapeOf(record.dialect);
    const message = JSON.parse(record.body) as never;
    if (shape.role(message) !== "user") continue;
    const texts = shape.parts(message).flatMap((part) => (part.kind === "text" ? [part.text] : []));
    if (texts.length > 0) asked = { text: texts.join("\n"), shown: [] };
  }
  const head = await store.head(threadId);
  const block = head === undefined ? [] : (frozenIn(head)?.factIds ?? []);
  return asked && { ...asked, shown: [...asked.shown, ...block] };
}
