export { rebuildIndex } from "./catch-up.ts";
export type { EmbeddingEvent, OnEmbedding } from "./embedder.ts";
export type { SearchHit, SearchOutcome, SearchSettings } from "./search.ts";
export { searchAll, searchThread } from "./search.ts";
