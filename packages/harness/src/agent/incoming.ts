/** What a caller says to a thread: a prompt or messages, checked at the boundary and made ready for the log. */

import { readMessage } from "@palimpsest/core/internal/message";
import type { MessageRecord } from "@palimpsest/core/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/message";
import type { ModelMessage } from "ai";
import { jsonOf } from "./body.ts";
import { AgentError } from "./errors.ts";

export interface Incoming {
  readonly prompt?: string | undefined;
  readonly messages?: readonly ModelMessage[] | undefined;
}

export interface Said {
  readonly message: AiSdkMessage;
  readonly origin: MessageRecord["origin"];
}

/** Nothing at all means: go on from where the thread stands. Throws an `AgentError` for what can't be said. */
export function readIncoming({ prompt, messages }: Incoming): readonly Said[] {
  if (prompt !== undefined && messages !== undefined) {
    throw new AgentError("bad-message", "give either prompt or messages, not both");
  }
  if (prompt !== undefined) return [said({ role: "user", content: prompt }, 0)];
  const list = (messages ?? []).map((message, index) => said(message, index));
  if (messages !== undefined && list.length === 0) throw emptyPrompt();
  return list;
}

function said(given: unknown, index: number): Said {
  const read = readMessage("ai-sdk", jsonOf(given));
  if (read.kind === "problem")
    throw new AgentError("bad-message", `message ${index + 1} can't be used: ${read.detail}`);
  const { message } = read;
  const blank = aiSdkShape.parts(message).every((part) => part.kind === "text" && part.text.trim() === "");
  if (blank && message.role === "user") throw emptyPrompt();
  return { message, origin: ORIGINS[message.role] };
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;

function emptyPrompt(): AgentError {
  return new AgentError("empty-prompt", "the prompt is empty: nothing was sent and nothing was written");
}
