/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export type { Closeness, Propose } from "./closeness.ts";
export { cosine, PROPOSED, packVector } from "./closeness.ts";
export { countOf, indexableText, indexEntry, isEcho, place } from "./entry.ts";
export { MemoryIndex } from "./memory-index.ts";
export type {
  CandidateRequest,
  IndexEntry,
  IndexedDoc,
  Placement,
  RecallIndex,
  Scope,
  ScopeStatistics,
} from "./port.ts";
export {
  asksForCourse,
  COURSE_SEARCH,
  holdsQuoted,
  type MapText,
  mapLineText,
  mapText,
  renderHits,
  type ShownHit,
} from "./render.ts";
export { createSnippets, followUps, type SearchOptions, type Snippet, search } from "./search.ts";
export { formsCompiled, liftSentences, standingSentences, typedSteps } from "./standing.ts";
export { createThreadMap, type MapLine, type MapMessage, type ThreadMap } from "./thread-map.ts";
