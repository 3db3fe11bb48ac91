export type { Forked, NewMessage, NewUsage, Pinned, Undone } from "./acts.ts";
export { appendMessages, appendUsage, fork, headAt, pin, redo, undo, withWriter } from "./acts.ts";
export type { Rebuilt, Verified } from "./audit.ts";
export { rebuildHead, replay, verify } from "./audit.ts";
export { type Conversation, openConversation } from "./conversation.ts";
export type { Redacted, RedactOptions } from "./redact.ts";
export { redact } from "./redact.ts";
export type { Committed, Draft, Means, NewThread, Writer } from "./writer.ts";
export { commit, createThread, means, prepare, readStructure, sha256 } from "./writer.ts";
