/** A model's stream as the few things that every protocol can say. */
import type { ResolvedModel } from "palimpsest/models";
import { BrokenAnswer } from "./failure.ts";

export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly call: PieceCall }
  | { readonly type: "end"; readonly end: PieceEnd };

export interface PieceCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it, which may be none; never empty. */
  readonly input: string;
}

export interface PieceEnd {
  readonly reason: "stop" | "length" | "calls" | "filtered";
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Of the output. */
  readonly reasoning: number;
}

/** How a vendor writes an answer that isn't its own. */
export interface AnswerWriter {
  /** What comes before the first piece. */
  begin(): string;
  add(piece: Piece): string;
  /** The whole answer as one body, once all pieces were added. */
  whole(): unknown;
}

type ModelStream = Awaited<ReturnType<ResolvedModel["language"]["doStream"]>>["stream"];
type FinishPart = Extract<ModelStream extends ReadableStream<infer P> ? P : never, { readonly type: "finish" }>;

/** Throws where the model says that something went wrong, or ends without saying how. */
export async function* piecesOf(stream: ModelStream): AsyncGenerator<Piece> {
  let isEnded = false;
  try {
    for await (const part of stream) {
      if (part.type === "text-delta" && part.delta !== "") yield { type: "text", text: part.delta };
      if (part.type === "tool-call")
        yield { type: "call", call: { id: part.toolCallId, name: part.toolName, input: part.input || "{}" } };
      if (part.type === "error") throw part.error;
      if (part.type !== "finish") continue;
      isEnded = true;
      yield { type: "end", end: endOf(part) };
    }
  } catch (error) {
    throw new BrokenAnswer(error);
  }
  if (!isEnded) throw new BrokenAnswer(null);
}

function endOf({ usage: { inputTokens, outputTokens }, finishReason }: FinishPart): PieceEnd {
  return {
    reason: REASONS[finishReason.unified] ?? "stop",
    input: inputTokens.total ?? 0,
    output: outputTokens.total ?? 0,
    cached: inputTokens.cacheRead ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  };
}

const REASONS: Readonly<Record<string, PieceEnd["reason"]>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "calls",
  "content-filter": "filtered",
};
