/** Writes an answer that isn't Anthropic's as a message: as events, or whole. */
import { callInput } from "../converted/call-input.ts";
import type { AnswerWriter, Piece, PieceEnd } from "../converted/pieces.ts";
import type { WriterOptions } from "../vendor.ts";

type Block = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: unknown };

export function messagesWriter({ id, model }: WriterOptions): AnswerWriter {
  const blocks: Block[] = [];
  let ended: PieceEnd | null = null;
  const message = (content: readonly Block[], end: PieceEnd | null) => ({
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: end === null ? null : REASONS[end.reason],
    stop_sequence: null,
    usage: usageOf(end),
  });
  const opened = (block: unknown): string =>
    event("content_block_start", { index: blocks.length - 1, content_block: block });
  const grown = (delta: unknown): string => event("content_block_delta", { index: blocks.length - 1, delta });
  const closed = (): string => event("content_block_stop", { index: blocks.length - 1 });
  return {
    begin: () => event("message_start", { message: message([], null) }),
    add(piece: Piece) {
      const last = blocks.at(-1);
      switch (piece.type) {
        case "text": {
          const delta = { type: "text_delta", text: piece.text };
          if (last?.type === "text") {
            last.text += piece.text;
            return grown(delta);
          }
          blocks.push({ type: "text", text: piece.text });
          return opened({ type: "text", text: "" }) + grown(delta);
        }
        case "call": {
          const before = last?.type === "text" ? closed() : "";
          const { id: callId, name } = piece.call;
          const input = callInput(piece.call.input);
          blocks.push({ type: "tool_use", id: callId, name, input });
          const block = { type: "tool_use", id: callId, name, input: {} };
          return (
            before + opened(block) + grown({ type: "input_json_delta", partial_json: JSON.stringify(input) }) + closed()
          );
        }
        case "end": {
          ended = piece.end;
          const delta = { stop_reason: REASONS[piece.end.reason], stop_sequence: null };
          const before = last?.type === "text" ? closed() : "";
          return `${before}${event("message_delta", { delta, usage: usageOf(piece.end) })}${event("message_stop", {})}`;
        }
      }
    },
    whole: () => message(blocks, ended ?? { reason: "stop", input: 0, output: 0, cached: 0, reasoning: 0 }),
  };
}

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const REASONS = { stop: "end_turn", length: "max_tokens", calls: "tool_use", filtered: "refusal" } as const;

/** Anthropic leaves what the cache had out of the input. */
function usageOf(end: PieceEnd | null) {
  const { input = 0, output = 0, cached = 0 } = end ?? {};
  return {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  };
}
