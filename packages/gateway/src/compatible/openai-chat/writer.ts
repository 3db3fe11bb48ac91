/** Writes an answer that isn't OpenAI's as chat completions: as chunks, or whole. */
import type { AnswerWriter, Piece, PieceCall, PieceEnd } from "../converted/pieces.ts";
import type { Fields, WriterOptions } from "../vendor.ts";

export function chatWriter({ id, model, body }: WriterOptions): AnswerWriter {
  const base = (object: string) => ({ id: `chatcmpl-${id}`, object, created: Math.floor(Date.now() / 1000), model });
  const chunk = (delta: unknown, finish: string | null = null): string =>
    event({ ...base("chat.completion.chunk"), choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  const reportsUsage = (body["stream_options"] as Fields | undefined)?.["include_usage"] === true;
  const calls: PieceCall[] = [];
  let text = "";
  let ended: PieceEnd | null = null;
  return {
    begin: () => chunk({ role: "assistant", content: "" }),
    add(piece: Piece) {
      switch (piece.type) {
        case "text":
          text += piece.text;
          return chunk({ content: piece.text });
        case "call":
          return chunk({ tool_calls: [{ index: calls.push(piece.call) - 1, ...callOf(piece.call) }] });
        case "end": {
          ended = piece.end;
          const usage = event({ ...base("chat.completion.chunk"), choices: [], usage: usageOf(piece.end) });
          return `${chunk({}, REASONS[piece.end.reason])}${reportsUsage ? usage : ""}data: [DONE]\n\n`;
        }
      }
    },
    whole: () => ({
      ...base("chat.completion"),
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text === "" && calls.length > 0 ? null : text,
            refusal: null,
            ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
          },
          logprobs: null,
          finish_reason: REASONS[ended?.reason ?? "stop"],
        },
      ],
      usage: usageOf(ended),
    }),
  };
}

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

const callOf = ({ id, name, input }: PieceCall) => ({ id, type: "function", function: { name, arguments: input } });

const REASONS = { stop: "stop", length: "length", calls: "tool_calls", filtered: "content_filter" } as const;

function usageOf(end: PieceEnd | null) {
  const { input = 0, output = 0, cached = 0, reasoning = 0 } = end ?? {};
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
