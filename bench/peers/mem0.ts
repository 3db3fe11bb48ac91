/**
 * mem0's own retrieval (vectors, BM25 and entities, fused), without a network: turns are stored as they are (`infer: false`,
 * so that no model is asked), in its store for one process. An embedding model can't run here; instead words are hashed into a vector,
 * so this is what its ranking makes of the words, not what it makes of a good embedding.
 */
import { analyze } from "../../packages/core/src/text/analyze.ts";
import type { Peer } from "../recall-peers.ts";
import { standInForSqlite } from "./node-sqlite.ts";

interface Memory {
  add(messages: readonly object[], options: object): Promise<unknown>;
  search(query: string, options: object): Promise<{ results: readonly { metadata?: { seq?: number } }[] }>;
}

interface Mem0 {
  readonly Memory: new (config: object) => Memory;
}

export async function loadMem0(): Promise<Mem0> {
  // Read when the module loads; without it every call would try to report to its maker.
  process.env["MEM0_TELEMETRY"] = "false";
  standInForSqlite("mem0ai");
  return (await import("mem0ai/oss" as string)) as Mem0;
}

const MOST = 400;

export function mem0({ Memory }: Mem0): Peer {
  return {
    name: "mem0, hashed words for an embedding",
    build: async (dialog, textOf) => {
      const memory = new Memory({
        embedder: { provider: "langchain", config: { model: HASHED_WORDS } },
        vectorStore: {
          provider: "memory",
          config: { collectionName: "turns", dimension: DIMENSIONS, dbPath: ":memory:" },
        },
        llm: { provider: "langchain", config: { model: NEVER_ASKED } },
        disableHistory: true,
      });
      for (const turn of dialog.turns) {
        const message = { role: "user", content: textOf(turn) };
        await memory.add([message], { userId: "bench", infer: false, metadata: { seq: turn.seq } });
      }
      return async (question) => {
        const options = { topK: MOST, filters: { user_id: "bench" }, threshold: 0 };
        const { results } = await memory.search(question, options);
        return results.flatMap(({ metadata }) => metadata?.seq ?? []);
      };
    },
  };
}

const DIMENSIONS = 1024;

/** LangChain's port for embeddings: each stem adds to one place of the vector, so texts are alike when they share words. */
const HASHED_WORDS = {
  embedQuery: async (text: string): Promise<number[]> => hashedWords(text),
  embedDocuments: async (texts: readonly string[]): Promise<number[][]> => texts.map(hashedWords),
};

function hashedWords(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  for (const { term } of analyze(text)) vector[placeOf(term)]! += 1;
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** FNV-1a. */
function placeOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < term.length; i += 1) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % DIMENSIONS;
}

const NEVER_ASKED = {
  invoke: async (): Promise<never> => {
    throw new Error("mem0 asked a model; with infer: false it shouldn't");
  },
};
