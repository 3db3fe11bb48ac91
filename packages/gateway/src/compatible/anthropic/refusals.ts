/** Refusals in Anthropic's words and codes, for what is held here. The official client has a class for each code. */
import { ProblemError } from "../../http/problem.ts";
import type { BlockProblem } from "./compaction-block.ts";

/** The ones that are ever given; what is none of theirs has another code and stands under another name. */
export const ERROR_CODES = {
  thread_not_found: [
    404,
    'No thread was found for `previous_message_id`: it was never made here, is somebody else\'s, or was deleted. Replay the full conversation with `thread: {"type": "create"}`.',
  ],
  thread_unsupported_request: [
    400,
    "No thread is held for this request: its model is another vendor's and what would hold the thread here is off. Send the full conversation without `thread`.",
  ],
  thread_fingerprint_mismatch: [
    400,
    'differ from what the thread was created with. Leave them out, or replay the full conversation with `thread: {"type": "create"}`.',
  ],
  compaction_block_ambiguous: [
    400,
    "`messages` holds more than one `compaction` block. Send only the one that came last.",
  ],
  compaction_block_misplaced: [
    400,
    "The `compaction` block is not the first block of the conversation. Send it first, in an assistant message, in place of what it summarizes.",
  ],
  compaction_content_mismatch: [400, "The `compaction` block's `content` is not what it was given with."],
  compaction_incomplete_turn: [
    400,
    "The conversation ends with tool calls that have no results yet. Send their results, then compact.",
  ],
  compaction_nothing_to_summarize: [400, "`messages` holds nothing of a user or an assistant to summarize."],
  compaction_signature_invalid: [
    400,
    "The `compaction` block's `signature` does not verify: it was changed, is somebody else's, or its conversation was deleted.",
  ],
  compaction_too_many_tool_references: [
    400,
    "More tools came and went in this conversation than a `compaction` block can record.",
  ],
  compaction_tool_changes_mismatch: [400, "The `compaction` block's `tool_changes` are not what it was given with."],
  compaction_unavailable: [529, "The conversation can't be compacted at the moment. Try again."],
} as const satisfies Record<string, readonly [number, string]> & Record<BlockProblem, unknown>;

export type ErrorCode = keyof typeof ERROR_CODES;

export function refused(code: ErrorCode, about = ""): ProblemError {
  const [status, message] = ERROR_CODES[code];
  return new ProblemError(status, code, about === "" ? message : `${about} ${message}`);
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
