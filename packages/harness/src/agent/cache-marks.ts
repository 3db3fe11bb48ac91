/**
 * Marks for providers that cache a prompt only where they are told to, at most four: after the system prompt, which
 * threads share, behind the last two prunings, from where the next one writes anew, and after the last message, from where
 * the next request grows. The log never holds a mark.
 */
import { cutMarks } from "@palimpsest/core/internal/compaction";
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { SystemModelMessage } from "ai";
import type { Conversation } from "../thread/conversation.ts";

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

export function needsMarks(provider: string): boolean {
  return provider.includes("anthropic");
}

export function markedInstructions(text: string, provider: string): string | SystemModelMessage {
  return needsMarks(provider) ? { role: "system", content: text, providerOptions: MARK } : text;
}

/** The messages of a thread's view that a mark stands behind, beside the last one. */
export function cutMessages(conversation: Pick<Conversation<AiSdkMessage>, "head" | "view">): readonly AiSdkMessage[] {
  const marks = cutMarks(conversation.head().reach);
  if (marks.length === 0) return [];
  return conversation.view().flatMap(({ seq, message }) => (seq !== null && marks.includes(seq) ? [message] : []));
}

/** `cuts`: messages out of the list that get a mark as well; one that isn't in it any more gets none. */
export function markedMessages(
  messages: readonly AiSdkMessage[],
  provider: string,
  cuts: readonly AiSdkMessage[] = [],
): readonly AiSdkMessage[] {
  if (!needsMarks(provider)) return messages;
  const last = messages.length - 1;
  if (cuts.length === 0) return last < 0 ? messages : messages.with(last, marked(messages[last]!));
  return messages.map((message, index) => (index === last || cuts.includes(message) ? marked(message) : message));
}

function marked(message: AiSdkMessage): AiSdkMessage {
  const { anthropic, ...others } = message.providerOptions ?? {};
  return { ...message, providerOptions: { ...others, anthropic: { ...MARK.anthropic, ...anthropic } } };
}
