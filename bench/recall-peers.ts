/**
 * Two search libraries and mem0 on the same turns and questions: the libraries with their defaults, and once more with our terms
 * (stems, no stop words), which is the better of the two for them and leaves only the ranking to compare. They are
 * dependencies of `bench/` alone; where they aren't installed the bench says how to get them.
 */
import { analyze } from "../packages/core/src/text/analyze.ts";
import { loadMem0, mem0 } from "./peers/mem0.ts";

/** Turn seqs, best first. */
export type Searcher = (question: string) => Promise<number[]> | number[];
export type Peer = {
  readonly name: string;
  readonly build: <T extends { readonly seq: number }>(
    dialog: { readonly turns: readonly T[] },
    textOf: (turn: T) => string,
  ) => Promise<Searcher>;
};

/** `libraries`: without mem0, which takes hours for long threads. */
export async function loadPeers(which: "all" | "libraries" = "all"): Promise<{ peers: Peer[]; missing: string[] }> {
  const peers: Peer[] = [];
  const missing: string[] = [];
  const both = (load: (library: never, terms: Terms) => Peer, library: unknown): Peer[] => [
    load(library as never, "defaults"),
    load(library as never, "our-terms"),
  ];
  for (const [name, load] of Object.entries({
    minisearch: async () => both(miniSearch, await import("minisearch" as string)),
    "@orama/orama": async () => both(orama, await import("@orama/orama" as string)),
    mem0ai: async () => [mem0(await loadMem0())],
  })) {
    if (which === "libraries" && name === "mem0ai") continue;
    try {
      peers.push(...(await load()));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
      missing.push(`${name} is not installed; npm ci --prefix bench`);
    }
  }
  return { peers, missing };
}

const MOST = 400;
type Terms = "defaults" | "our-terms";

function ourTerms(text: string): string[] {
  return analyze(text).map(({ term }) => term);
}

interface MiniSearchModule {
  readonly default: new (options: {
    fields: string[];
    idField: string;
  }) => {
    addAll(docs: readonly object[]): void;
    search(query: string): { id: number }[];
  };
}

function miniSearch({ default: MiniSearch }: MiniSearchModule, terms: Terms): Peer {
  return {
    name: `MiniSearch, ${terms}`,
    build: async (dialog, textOf) => {
      const index = new MiniSearch({
        fields: ["text"],
        idField: "seq",
        ...(terms === "our-terms" ? { tokenize: ourTerms } : {}),
      });
      index.addAll(dialog.turns.map((turn) => ({ seq: turn.seq, text: textOf(turn) })));
      return (question) =>
        index
          .search(question)
          .slice(0, MOST)
          .map(({ id }) => id);
    },
  };
}

interface OramaModule {
  create(options: { schema: Record<string, string>; components?: object }): object;
  insertMultiple(db: object, docs: readonly object[]): Promise<unknown>;
  search(db: object, query: { term: string; limit: number }): Promise<{ hits: { document: { seq: number } }[] }>;
}

function orama({ create, insertMultiple, search }: OramaModule, terms: Terms): Peer {
  const tokenizer = { language: "english", normalizationCache: new Map(), tokenize: ourTerms };
  return {
    name: `Orama, ${terms}`,
    build: async (dialog, textOf) => {
      const db = create({
        schema: { text: "string" },
        ...(terms === "our-terms" ? { components: { tokenizer } } : {}),
      });
      await insertMultiple(
        db,
        dialog.turns.map((turn) => ({ seq: turn.seq, text: textOf(turn) })),
      );
      return async (question) => {
        const { hits } = await search(db, { term: question, limit: MOST });
        return hits.map(({ document }) => document.seq);
      };
    },
  };
}
