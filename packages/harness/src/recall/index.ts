export { rebuildIndex } from "./catch-up.ts";
export type { EmbeddingEvent, OnEmbedding } from "./embedder.ts";
export { type Indexing, type IndexingEvent, type IndexingOptions, startIndexing } from "./indexing.ts";
export type { SearchCover, SearchHit, SearchOutcome, SearchSettings } from "./search.ts";
export { searchAll, searchThread } from "./search.ts";
export type { IndexProgress } from "./stored-index.ts";
