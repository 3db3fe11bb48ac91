/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { inTurns, jsonSteps, pace, slices } from "../long-work.ts";
export { appendUsage, fork, pin, redo, undo, withWriter } from "./acts.ts";
export { LeftOpen } from "./asked-model.ts";
export { rebuildHead, replay } from "./audit.ts";
export {
  type Continuation,
  continuations,
  continueThread,
  type NamedConversation,
  writeWhereItStands,
} from "./continue-thread.ts";
export { currentThread } from "./handle.ts";
export type { LeftThread } from "./log.ts";
export { rulesInFiles } from "./rule-files.ts";
export { compactThread } from "./sized-thread.ts";
export { liveRecordsOf, openStoredThread, type Thread } from "./thread.ts";
export { toolDefinitions } from "./thread-tools.ts";
export { bytesOf } from "./thread-view.ts";
export { titleOf } from "./title.ts";
export { commit, createThread, prepare } from "./writer.ts";
