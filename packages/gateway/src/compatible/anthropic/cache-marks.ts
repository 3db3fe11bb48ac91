/**
 * Marks for the prompt cache on a prompt of ours. Clients move their mark with every request, and each message was kept
 * with the one it had then: all of them together would be more than the API takes. Pure.
 */
import type { AnthropicBlock, AnthropicMessage } from "@palimpsest/core/message";

/** The API takes so many. */
const MOST_MARKS = 4;

/** `asked`: the client's own messages. `beside`: what is sent beside them, with marks of its own. */
export function withMarks(
  messages: readonly AnthropicMessage[],
  { asked, beside }: { readonly asked: readonly AnthropicMessage[]; readonly beside: readonly unknown[] },
): readonly AnthropicMessage[] {
  const mark = asked.flatMap(marksIn).at(-1);
  const taken = (JSON.stringify(beside).match(/"cache_control":\{/g) ?? []).length;
  const bare = messages.map(withoutMarks);
  if (mark === undefined || taken >= MOST_MARKS) return bare;
  const last = bare.length - 1;
  return bare.map((message, index) => (index === last ? markedAtEnd(message, mark) : message));
}

function blocksOf({ content }: AnthropicMessage): readonly AnthropicBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function marksIn(message: AnthropicMessage): unknown[] {
  return blocksOf(message).flatMap(({ cache_control: mark }) => (mark == null ? [] : [mark]));
}

function withoutMarks(message: AnthropicMessage): AnthropicMessage {
  if (typeof message.content === "string" || marksIn(message).length === 0) return message;
  return { ...message, content: message.content.map(({ cache_control: _, ...block }) => block as AnthropicBlock) };
}

/** Thinking takes no mark. */
function markedAtEnd(message: AnthropicMessage, mark: unknown): AnthropicMessage {
  const blocks = blocksOf(message);
  const at = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return {
    ...message,
    content: blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block)),
  };
}
