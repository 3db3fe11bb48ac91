/**
 * Marks for providers that cache a prompt only where they are told to: after the system prompt, which threads share, and
 * after the last message, from where the next request grows. The log never holds a mark.
 */
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { SystemModelMessage } from "ai";

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

function needsMarks(provider: string): boolean {
  return provider.includes("anthropic");
}

export function markedInstructions(text: string, provider: string): string | SystemModelMessage {
  return needsMarks(provider) ? { role: "system", content: text, providerOptions: MARK } : text;
}

export function markedMessages(messages: readonly AiSdkMessage[], provider: string): readonly AiSdkMessage[] {
  const last = messages.at(-1);
  if (last === undefined || !needsMarks(provider)) return messages;
  const { anthropic, ...others } = last.providerOptions ?? {};
  const providerOptions = { ...others, anthropic: { ...MARK.anthropic, ...anthropic } };
  return messages.with(-1, { ...last, providerOptions });
}
