/** The readable text of a compaction that was asked for: the summary, and behind it what is still shown as it was said. Pure. */
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/message";
import type { ThreadPrompt } from "palimpsest/session";

/** Most characters of one message; the thread itself has all of it. */
const MOST = 4000;

export function wordForWord(
  summary: string | null,
  { messages, sources }: Pick<ThreadPrompt<AnthropicMessage>, "messages" | "sources">,
): string {
  const said = messages.flatMap((message, index) => (sources[index] === "message" ? [lineOf(message)] : []));
  return [
    ...(summary === null ? [] : [summary]),
    ...(said.length === 0 ? [] : ["Said last, word for word:", ...said]),
  ].join("\n\n");
}

function lineOf(message: AnthropicMessage): string {
  const texts = anthropicShape.parts(message).flatMap((part): string[] => {
    switch (part.kind) {
      case "text":
        return [part.text];
      case "call":
        return [`[calls ${part.name} with ${part.input}]`];
      case "result":
        return [`[result: ${part.text}]`];
      default:
        return [];
    }
  });
  const text = texts.join("\n");
  const shown = text.length > MOST ? `${text.slice(0, MOST / 2)}\n[...]\n${text.slice(-MOST / 2)}` : text;
  return `${message.role}: ${shown}`;
}
