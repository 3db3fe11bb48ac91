/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { applyPrune } from "./apply-prune.ts";
export { chain, link } from "./chain.ts";
export { applyDelta, deltaOf } from "./delta.ts";
export { advance, chainAfter, emptyHead, headFold, storedState } from "./head.ts";
export { erase, erasedState, isQuoted, memoryText, skeleton, withoutEchoes } from "./redact.ts";
export {
  liveAfter,
  liveAfterAll,
  liveRecords,
  NOTHING_LIVE,
  planRedo,
  planUndo,
  STRUCTURAL_KINDS,
  structural,
  viewAfter,
} from "./structure.ts";
export { sent, view } from "./view.ts";
