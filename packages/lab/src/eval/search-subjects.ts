/** Who is measured: our search with what `recall` shows of it, and others whose hits are shown in the same windows. */
import {
  indexEntry,
  MemoryIndex,
  renderHits,
  type SearchOptions,
  type ShownHit,
  search,
} from "@palimpsest/core/recall";
import { hitsWithin } from "palimpsest/internal/recall";
import type { SearchedMessage, SearchedThread } from "./question-data.ts";

interface Answer {
  /** Seqs, best first. */
  readonly ranked: readonly number[];
  readonly show: (tokens: number, count: (text: string) => number) => string;
}

export type Asker = (question: string, before?: number) => Promise<Answer>;

/** Seqs of messages, best first. */
export type Ranker = (question: string) => Promise<readonly number[]> | readonly number[];

/** More than any budget shows. */
const MOST = 400;

interface OwnOptions {
  /** The constants of the ranking; the product's own unless told. */
  readonly ranking?: SearchOptions["ranking"];
  /** What an embedder says to a question; none is asked unless told. */
  readonly meaning?: (thread: SearchedThread, question: string) => Pick<SearchOptions, "closeness" | "propose">;
}

export function ours({ ranking, meaning }: OwnOptions = {}): (thread: SearchedThread) => Promise<Asker> {
  return async (thread) => {
    const { turns } = thread;
    const index = indexOf(thread);
    return async (question, before = Number.MAX_SAFE_INTEGER) => {
      const scope = { kind: "thread", threadId: "thread" } as const;
      const result = await search(index, scope, question, {
        limit: MOST,
        standing: "with",
        ...(ranking !== undefined && { ranking }),
        ...meaning?.(thread, question),
      });
      const hits = result.kind === "found" ? result.hits.filter(({ doc }) => doc.seq < before) : [];
      const ranked = hits.map(({ doc }) => doc.seq);
      const weights = result.kind === "found" ? result.weights : undefined;
      const standing = (result.standing ?? []).flatMap(({ seq }) => (seq < before ? [shownHit(turns[seq - 1]!)] : []));
      return { ranked, show: shownOf(thread, ranked, { question, weights, standing }) };
    };
  };
}

/** A thread is indexed once, however often it is asked. */
const indexes = new WeakMap<SearchedThread, MemoryIndex>();

export function indexOf(thread: SearchedThread): MemoryIndex {
  const known = indexes.get(thread);
  if (known !== undefined) return known;
  const index = new MemoryIndex();
  for (const { seq, at, speaker, text, caption, imageQuery } of thread.turns) {
    if (text === "" && caption === "") continue;
    index.put({ threadId: "thread", seq }, indexEntry({ text, speaker, at, aside: `${caption} ${imageQuery}` }));
  }
  indexes.set(thread, index);
  return index;
}

/** Somebody else's ranking, shown as ours is. */
export function askerOf(thread: SearchedThread, rank: Ranker): Asker {
  return async (question, before = Number.MAX_SAFE_INTEGER) => {
    const ranked = (await rank(question)).filter((seq) => seq < before);
    return { ranked, show: shownOf(thread, ranked, { question }) };
  };
}

/** As many hits as `recall` looks at for so many tokens. */
function shownOf(
  { turns }: SearchedThread,
  ranked: readonly number[],
  options: Omit<Parameters<typeof renderHits>[1], "tokens" | "count">,
): Answer["show"] {
  const shown = ranked.map((seq) => shownHit(turns[seq - 1]!));
  return (tokens, count) => renderHits(shown.slice(0, hitsWithin(tokens)), { ...options, tokens, count }).text;
}

function shownHit({ session, seq, at, speaker, text, caption }: SearchedMessage): ShownHit {
  const words = caption === "" ? text : `${text} [image: ${caption}]`;
  return { threadId: "thread", session, seq, at, speaker, text: words };
}
