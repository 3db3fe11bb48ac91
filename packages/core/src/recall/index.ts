export type { Term } from "../text/analyze.ts";
export type { Closeness, Propose } from "./closeness.ts";
export { type EntrySource, type Indexable, type IndexableOptions, indexableText, indexEntry } from "./entry.ts";
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
export {
  createSnippets,
  type Rendered,
  type RenderOptions,
  renderHits,
  type ShownHit,
  type Snippet,
  type SnippetOptions,
} from "./render.ts";
export { type SearchOptions, type SearchResult, search } from "./search.ts";
