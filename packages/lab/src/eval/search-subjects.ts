/** Who is measured: our search with what `recall` shows of it, and others whose hits are shown in the same windows. */
import type { SearchOptions, ShownHit } from "@palimpsest/core/internal/recall";
import { indexEntry, MemoryIndex, renderHits, search } from "@palimpsest/core/internal/recall";
import { hitsWithin } from "palimpsest/internal/recall";
import type { SearchedMessage, SearchedThread } from "./question-data.ts";

interface SubjectAnswer {
  /** Seqs, best first. */
  readonly ranked: readonly number[];
  readonly show: (tokens: number, count: (text: string) => number) => string | Promise<string>;
}

export type SubjectAsker = (question: string, before?: number) => Promise<SubjectAnswer>;

/** Seqs of messages, best first. */
export type Ranker = (question: string) => Promise<readonly number[]> | readonly number[];

/** Hits of which the first are counted. */
const RANKED = 100;
/** More than any budget shows. */
const MOST = 400;

interface OwnOptions {
  /** The constants of the ranking; the product's own unless told. */
  readonly ranking?: SearchOptions["ranking"];
  /** What an embedder says to a question; none is asked unless told. */
  readonly meaning?: (thread: SearchedThread, question: string) => Pick<SearchOptions, "closeness" | "propose">;
}

export function ours({ ranking, meaning }: OwnOptions = {}): (thread: SearchedThread) => Promise<SubjectAsker> {
  return async (thread) => {
    const { turns } = thread;
    const index = indexOf(thread);
    const scope = { kind: "thread", threadId: "thread" } as const;
    return async (question, before = Number.MAX_SAFE_INTEGER) => {
      const isEarlier = ({ seq }: { readonly seq: number }): boolean => seq < before;
      const ask = async (most: number) => {
        const result = await search(index, scope, question, {
          // What came later is taken out of the hits, so more are asked for.
          limit: before > turns.length ? most : MOST,
          standing: "with",
          ranking,
          ...meaning?.(thread, question),
        });
        const hits = result.kind === "found" ? result.hits.map(({ doc }) => doc).filter(isEarlier) : [];
        const weights = result.kind === "found" ? result.weights : undefined;
        const standing = (result.standing ?? []).filter(isEarlier).map(({ seq }) => shownHit(turns[seq - 1]!));
        return { ranked: hits.map(({ seq }) => seq), weights, standing };
      };
      const { ranked } = await ask(RANKED);
      const show: SubjectAnswer["show"] = async (tokens, count) => {
        const { ranked: shown, ...rest } = await ask(hitsWithin(tokens));
        return shownOf(thread, shown, { question, ...rest })(tokens, count);
      };
      return { ranked, show };
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
export function askerOf(thread: SearchedThread, rank: Ranker): SubjectAsker {
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
): SubjectAnswer["show"] {
  const shown = ranked.map((seq) => shownHit(turns[seq - 1]!));
  return (tokens, count) => renderHits(shown.slice(0, hitsWithin(tokens)), { ...options, tokens, count }).text;
}

function shownHit({ session, seq, at, speaker, text, caption }: SearchedMessage): ShownHit {
  const words = caption === "" ? text : `${text} [image: ${caption}]`;
  return { threadId: "thread", session, seq, at, speaker, text: words };
}
