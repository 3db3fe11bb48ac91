export type { Term } from "../text/analyze.ts";
export type { Closeness, Propose } from "./closeness.ts";
export { type EntrySource, indexEntry } from "./entry.ts";
export { type Indexable, type IndexableOptions, indexableText } from "./indexable.ts";
export { MemoryIndex } from "./memory-index.ts";
export type {
  CandidateRequest,
  IndexEntry,
  IndexedDoc,
  Placement,
  RecallIndex,
  Scope,
  ScopeStatistics,
  Seek,
} from "./port.ts";
export type { Hit } from "./rank.ts";
export { type Rendered, type RenderOptions, renderHits, type ShownHit } from "./render.ts";
export { type SearchOptions, type SearchResult, search } from "./search.ts";
export { createSnippets, type Snippet, type SnippetOptions } from "./snippet.ts";
