/** The words of messages as they were indexed, by where they stand. */
import type { MessageRecord } from "@palimpsest/core/internal/log";
import type { FindToolFacts } from "@palimpsest/core/internal/message";
import { indexableText } from "@palimpsest/core/internal/recall";
import type { Store } from "../stores/store.ts";
import { recallShape } from "./catch-up.ts";
import type { SearchHit } from "./search.ts";

export type MessagePlace = Pick<SearchHit, "threadId" | "seq">;
interface ShownHitText extends Pick<SearchHit, "id" | "role" | "text" | "at"> {
  /** What a person typed in this thread. */
  readonly typed: string;
}

export function refOf({ threadId, seq }: MessagePlace): string {
  return `${threadId}#${seq}`;
}

/** The words of messages as they were indexed, by `refOf`; one read for each thread. */
export async function readMessages(
  store: Store,
  places: readonly MessagePlace[],
  tools?: FindToolFacts,
): Promise<Map<string, ShownHitText>> {
  const messages = new Map<string, ShownHitText>();
  const read = async (threadId: string, seqs: readonly number[]): Promise<void> => {
    const range = [Math.min(...seqs), Math.max(...seqs)] as const;
    for await (const { record, redacted } of store.records(threadId, { range, seqs, kinds: ["message"] })) {
      if (redacted) continue;
      const { id, dialect, body, origin, at, seq } = record as MessageRecord;
      const shape = recallShape(dialect, tools);
      const message: object = JSON.parse(body);
      const { text, typed } = indexableText(message, shape, { origin }) ?? { text: "", typed: "" };
      messages.set(refOf({ threadId, seq }), { id, role: shape.role(message), at, text, typed });
    }
  };
  const byThread = Map.groupBy(places, ({ threadId }) => threadId);
  await Promise.all(
    [...byThread].map(([threadId, own]) =>
      read(
        threadId,
        own.map(({ seq }) => seq),
      ),
    ),
  );
  return messages;
}

/**
 * Messages by address (`thread#seq`), as hits that no search found. Those that aren't there or were erased are left out,
 * and so is what is no address: a memory that came from elsewhere names its sources as it likes.
 */
export async function readTurns(store: Store, refs: readonly string[]): Promise<SearchHit[]> {
  const places = refs.flatMap((ref) => {
    const [, threadId, seq] = /^([^#]+)#(\d{1,15})$/.exec(ref) ?? [];
    return threadId === undefined ? [] : [{ threadId, seq: Number(seq) }];
  });
  const messages = await readMessages(store, places);
  return places.flatMap((place): SearchHit[] => {
    const message = messages.get(refOf(place));
    if (message === undefined) return [];
    // Its sitting isn't known without the index; the day stands for it.
    const session = -Math.floor(Date.parse(message.at) / 86_400_000);
    const { typed: _, ...shown } = message;
    return [{ ...place, score: 0, session, ...shown, speaker: message.role }];
  });
}
