/** What our own packages use of this folder. What is public of it is in `../index.ts`. */

export type { Closeness, Propose } from "./closeness.ts";
export { cosine, PROPOSED, packVector } from "./closeness.ts";
export {
  countOf,
  formsCompiled,
  indexableText,
  indexEntry,
  isEcho,
  place,
  standingSentences,
  typedSteps,
} from "./entry.ts";
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
  createSnippets,
  holdsQuoted,
  type MapText,
  mapLineText,
  mapText,
  renderHits,
  type ShownHit,
  type Snippet,
} from "./render.ts";
export { followUps, type SearchOptions, search } from "./search.ts";
export { createThreadMap, type MapLine, type MapMessage, type ThreadMap } from "./thread-map.ts";
