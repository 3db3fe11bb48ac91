/** Which message ids a thread's log holds, and where: read once, headers only, and from then on what was added. */
import { parseHeader } from "@palimpsest/core/log";
import type { Store } from "../stores/store.ts";

export interface KnownIds {
  /** By id, over the whole log as far as `version`: hidden messages, and a fork's shared ones, too. */
  through(version: number): Promise<ReadonlyMap<string, number>>;
  /** It may be another log. */
  forget(): void;
}

export function knownIds(store: Store, thread: string): KnownIds {
  let seqs = new Map<string, number>();
  let read = 0;
  return {
    async through(version) {
      if (version > read) {
        const query = { range: [read + 1, version], kinds: ["message"], bodies: "none" } as const;
        for await (const { chained } of store.records(thread, query)) {
          const header = parseHeader(chained);
          if (header.kind === "message" && !seqs.has(header.id)) seqs.set(header.id, header.seq);
        }
        read = version;
      }
      return seqs;
    },
    forget() {
      seqs = new Map();
      read = 0;
    },
  };
}
