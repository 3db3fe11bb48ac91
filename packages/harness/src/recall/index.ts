export { rebuildIndex } from "./catch-up.ts";
export type { SearchHit, SearchOutcome, SearchSettings } from "./search.ts";
export { searchAll, searchThread } from "./search.ts";
