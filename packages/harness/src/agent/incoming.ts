/** What a caller says to a thread: a prompt or messages, checked at the boundary and made ready for the log. */

import { readMessage } from "@palimpsest/core/internal/message";
import type { MessageRecord } from "@palimpsest/core/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/message";
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { jsonOf } from "../thread/body.ts";
import type { Conversation } from "../thread/conversation.ts";
import type { ApprovalAnswer } from "./approval/pending.ts";
import { acceptedWords } from "./chat/accepted-words.ts";
import { lastCalls } from "./chat/answer-state.ts";
import { type BrowserWords, browserWords } from "./chat/browser-words.ts";
import { AgentError } from "./errors.ts";

export interface Incoming {
  readonly prompt?: string | undefined;
  readonly messages?: readonly ModelMessage[] | undefined;
  /**
   * All messages as `useChat` sends them: what the person did last is taken, the thread has the rest. What a user can't say is
   * refused (`not-allowed`), what the thread has already as well (`already-said`); `respond` answers that from the log.
   */
  readonly uiMessages?: readonly UIMessage[] | undefined;
}

interface Said {
  readonly message: AiSdkMessage;
  /** The client's own name for it. */
  readonly id?: string;
  readonly origin: MessageRecord["origin"];
}

export interface Heard {
  readonly said: readonly Said[];
  /** Words on calls that wait for approval. */
  readonly answers: readonly ApprovalAnswer[];
  /** What a browser says instead, until the thread is held. */
  readonly words: BrowserWords | null;
}

/** Nothing at all means: go on from where the thread stands. Throws an `AgentError` for what can't be said. */
export function readIncoming({ prompt, messages, uiMessages }: Incoming): Heard {
  if ([prompt, messages, uiMessages].filter((one) => one !== undefined).length > 1) {
    throw new AgentError("bad-message", "give one of prompt, messages and uiMessages");
  }
  if (uiMessages !== undefined) return { said: [], answers: [], words: browserWords(uiMessages) };
  if (prompt !== undefined) return { said: [said({ role: "user", content: prompt }, 0)], answers: [], words: null };
  const heard = fromMessages(messages ?? []);
  if (messages !== undefined && heard.said.length + heard.answers.length === 0) throw emptyPrompt();
  return heard;
}

function fromMessages(messages: readonly ModelMessage[]): Heard {
  const split = messages.map(withoutAnswers);
  return {
    said: split.flatMap(({ message }, index) => (message === null ? [] : [said(message, index)])),
    answers: split.flatMap((one) => one.answers),
    words: null,
  };
}

/** An approval is no message: it is kept in the thread's state. What the SDK writes as the result of a refused call is ours to write. */
function withoutAnswers(given: ModelMessage): {
  readonly message: ModelMessage | null;
  readonly answers: readonly ApprovalAnswer[];
} {
  if (given?.role !== "tool" || !Array.isArray(given.content)) return { message: given, answers: [] };
  const answers = given.content.flatMap((part) => {
    if (part.type !== "tool-approval-response") return [];
    return [
      { callId: part.approvalId, answer: part.approved ? ("yes" as const) : ("no" as const), reason: part.reason },
    ];
  });
  if (answers.length === 0) return { message: given, answers };
  const refused = new Set(answers.map(({ callId }) => callId));
  const content = given.content.filter(
    (part) => part.type === "tool-result" && !(part.output.type === "execution-denied" && refused.has(part.toolCallId)),
  );
  return { message: content.length === 0 ? null : { ...given, content }, answers };
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

export function emptyPrompt(): AgentError {
  return new AgentError("empty-prompt", "the prompt is empty: nothing was sent and nothing was written");
}

interface OpenThread {
  readonly conversation: Conversation<AiSdkMessage>;
  readonly tools: ToolSet;
}

/** What is said to the thread as it stands now. */
export function heardOn(heard: Heard, thread: OpenThread): Pick<Heard, "said" | "answers"> {
  if (heard.words === null) return { ...heard, said: withoutKnownResults(heard.said, thread.conversation) };
  const accepted = acceptedWords(heard.words, thread);
  return {
    answers: accepted.answers,
    said: accepted.said.map(({ message, ...named }, index) => ({ ...said(message, index), ...named })),
  };
}

/** Without results that the thread has. Ids are unique within an answer only, so only what answers the last one counts. */
function withoutKnownResults(
  list: readonly Said[],
  { live, original }: Pick<Conversation<AiSdkMessage>, "live" | "original">,
): readonly Said[] {
  if (list.every(({ message }) => message.role !== "tool")) return list;
  const { answered: known } = lastCalls(live().tail.map((record) => original(record)));
  return list.flatMap((one) => {
    const { message } = one;
    if (message.role !== "tool") return [one];
    const parts = aiSdkShape.parts(message);
    const fresh = [...parts.keys()].filter((index) => {
      const part = parts[index]!;
      return part.kind !== "result" || !known.has(part.id);
    });
    if (fresh.length === parts.length) return [one];
    return fresh.length === 0 ? [] : [{ ...one, message: aiSdkShape.select(message, fresh) }];
  });
}
