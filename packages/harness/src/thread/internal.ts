/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { inTurns, pace } from "../pace.ts";
export { withWriter } from "./acts.ts";
export {
  type Continuation,
  continuations,
  continueThread,
  LeftOpen,
  type NamedConversation,
  writeWhereItStands,
} from "./continue-thread.ts";
export { currentThread } from "./handle.ts";
export { commit } from "./writer.ts";
