/** Search for a store that keeps no tables for it: the log is read and indexed in memory, anew for each search. */
import { MemoryIndex, type RecallIndex, type Scope } from "@palimpsest/core/internal/recall";
import { everyThread } from "../stores/driver-rules.ts";
import { entryReader, type IndexDeps } from "./catch-up.ts";

/** Null for a thread that isn't there. A thread's scope holds what a fork inherited; in a user's each message stands once. */
export async function scanLog(deps: IndexDeps, scope: Scope): Promise<RecallIndex | null> {
  const { store } = deps;
  const index = new MemoryIndex();
  if (scope.kind === "thread") {
    if ((await store.header(scope.threadId)) === undefined) return null;
    await scanThread(deps, index, { threadId: scope.threadId, after: 0 });
  } else
    for await (const { header } of everyThread(store))
      await scanThread(deps, index, { threadId: header.id, after: header.forkedAt ?? 0 });
  return index;
}

interface ScannedPart {
  readonly threadId: string;
  readonly after: number;
}

async function scanThread(deps: IndexDeps, index: MemoryIndex, { threadId, after }: ScannedPart): Promise<void> {
  const { store } = deps;
  const read = entryReader(deps, threadId);
  const range = [after + 1, Number.MAX_SAFE_INTEGER] as const;
  for await (const stored of store.records(threadId, { range, kinds: ["message"] })) {
    const entry = await read(stored);
    if (entry === "echo") continue;
    const { seq } = stored.chained;
    const address = { threadId, seq, userId: store.userId };
    if (entry !== "erased") index.put(address, entry);
    else {
      // An erased message keeps its place among the others and can't be found.
      index.put(address, { speaker: "", at: stored.record.at, length: 0, asks: false, terms: new Map() });
      index.remove(threadId, seq);
    }
  }
}
