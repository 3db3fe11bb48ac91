/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { applyPrune } from "./apply-prune.ts";
export { chain, link } from "./chain.ts";
export { applyDelta, deltaOf } from "./delta.ts";
export { advance, emptyHead, headFold } from "./head.ts";
export { liveAfter, liveAfterAll, liveRecords, NOTHING_LIVE } from "./live.ts";
export { erase, erasedState, isQuoted, memoryText, skeleton, withoutEchoes } from "./redact.ts";
export { chainAfter, storedState } from "./state-chain.ts";
export { planRedo, planUndo, STRUCTURAL_KINDS, structural } from "./structure.ts";
export { sent, view } from "./view.ts";
export { viewAfter } from "./view-growth.ts";
