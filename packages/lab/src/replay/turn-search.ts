/** A search over the turns of a transcript, indexed as a store would index them, that sees only the turns it was given so far. */
import { indexableText, indexEntry, MemoryIndex, search } from "@palimpsest/core/internal/recall";
import { recallShape } from "palimpsest/internal/recall";
import type { Turn } from "./transcript.ts";

export interface TurnSearch {
  /** Indices of turns before `end`, best first. `end` never goes back. */
  find(query: string, options: { readonly end: number; readonly hits: number }): Promise<number[]>;
}

export function searchTurns(turns: readonly Turn[]): TurnSearch {
  const index = new MemoryIndex();
  const shape = recallShape("openai");
  let indexed = 0;
  return {
    async find(query, { end, hits }) {
      for (; indexed < end; indexed++) {
        const { message, at } = turns[indexed]!;
        const source = indexableText(message, shape, { origin: "import" });
        const when = { at: new Date(at).toISOString() };
        if (source !== null) index.put({ threadId: "transcript", seq: indexed }, indexEntry({ ...source, ...when }));
      }
      const result = await search(index, { kind: "thread", threadId: "transcript" }, query, { limit: hits });
      return result.kind === "found" ? result.hits.map(({ doc }) => doc.seq) : [];
    },
  };
}
