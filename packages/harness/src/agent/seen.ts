/**
 * What came out of a model's stream so far, told as events while it comes: pieces of text and of tool inputs, sources, files,
 * and what the provider's own tools do. Keeps what the answer is made of, within the limits of a call.
 */
import type { LanguageModelV4Source } from "@ai-sdk/provider";
import { answerTooLong } from "./call-limits.ts";
import { messageOf } from "./errors.ts";
import type { StepContext, StepOutcome } from "./step.ts";
import { shown, type ToolCall } from "./tools.ts";

/** The parts of the SDK's stream that matter here; all others are of no concern. */
export type StreamPart =
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly text: string }
  | { readonly type: "tool-input-start"; readonly id: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | (CallPart & {
      readonly type: "tool-call";
      readonly invalid?: boolean;
      readonly error?: unknown;
    })
  | (CallPart & { readonly type: "tool-result"; readonly output: unknown; readonly preliminary?: boolean })
  | (CallPart & { readonly type: "tool-error"; readonly error: unknown })
  | LanguageModelV4Source
  | {
      readonly type: "file" | "reasoning-file";
      readonly file: { readonly base64: string; readonly mediaType: string };
    }
  | { readonly type: "error"; readonly error: unknown };

interface CallPart {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerExecuted?: boolean;
}

export class Seen {
  text = "";
  /** Something that would be said twice if the model were asked again. The start of a tool's input is taken back instead. */
  shown = false;
  calls: ToolCall[] = [];
  error: { readonly value: unknown } | undefined;
  readonly #context: StepContext;
  /** When the provider's own tools were called. */
  readonly #called = new Map<string, number>();
  #size = 0;

  constructor(context: StepContext) {
    this.#context = context;
  }

  take(part: StreamPart): void {
    const { emit } = this.#context;
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        this.#show(part);
        return;
      case "tool-input-start":
        emit({ type: "tool-input-start", callId: part.id, name: part.toolName });
        return;
      case "tool-input-delta":
        this.#add(part.delta.length);
        emit({ type: "tool-input-delta", callId: part.id, text: part.delta });
        return;
      case "tool-call":
        if (part.providerExecuted) this.#startTool(part);
        else this.calls.push(toolCall(part));
        return;
      case "tool-result":
      case "tool-error":
        if (part.providerExecuted) this.#endTool(part);
        return;
      case "source":
        this.shown = true;
        emit(sourceEvent(part));
        return;
      case "file":
      case "reasoning-file":
        this.#file(part);
        return;
      case "error":
        this.error ??= { value: part.error };
    }
  }

  /** What there is room for is shown and kept, also of a piece that is too long. */
  #show({ type, id, text: whole }: StreamPart & { type: "text-delta" | "reasoning-delta" }): void {
    const { step, emit, limits } = this.#context;
    const text = whole.slice(0, limits.answerChars - this.#size);
    if (text !== "") {
      if (type === "text-delta") this.text += text;
      this.shown = true;
      emit({ type, id: `${step}-${type[0]}-${id}`, text });
    }
    this.#add(whole.length);
  }

  #file({ type, file: { base64: data, mediaType } }: StreamPart & { type: "file" | "reasoning-file" }): void {
    this.#add(data.length);
    this.shown = true;
    const of = type === "reasoning-file" ? "reasoning" : "answer";
    this.#context.emit({ type: "file-add", of, mediaType, data });
  }

  #startTool({ toolCallId: callId, toolName: name, input }: CallPart): void {
    const { emit, clock } = this.#context;
    this.shown = true;
    this.#called.set(callId, clock().getTime());
    emit({ type: "tool-start", callId, name, input: shown(input), by: "provider" });
  }

  #endTool(part: StreamPart & { type: "tool-result" | "tool-error" }): void {
    const { emit, clock } = this.#context;
    const { toolCallId: callId, toolName: name } = part;
    const now = clock().getTime();
    const isError = part.type === "tool-error";
    const output = shown(isError ? messageOf(part.error) : part.output);
    const ms = now - (this.#called.get(callId) ?? now);
    if (!isError && part.preliminary) emit({ type: "tool-progress", callId, name, output });
    else emit({ type: "tool-end", callId, name, output, isError, ms });
  }

  #add(chars: number): void {
    const { limits } = this.#context;
    this.#size += Math.max(chars, LEAST_PIECE);
    if (this.#size > limits.answerChars) throw answerTooLong(limits);
  }

  aborted(): StepOutcome {
    return { kind: "aborted", text: this.text };
  }

  failed(error: unknown): StepOutcome {
    return { kind: "failed", error, text: this.text, shown: this.shown };
  }
}

/** What a piece counts at least: the SDK keeps each until the answer has ended, however little it says. */
const LEAST_PIECE = 8;

function toolCall(part: StreamPart & { type: "tool-call" }): ToolCall {
  const { toolCallId: id, toolName: name, input } = part;
  return { id, name, input, invalid: part.invalid === true ? messageOf(part.error) : null };
}

function sourceEvent(source: LanguageModelV4Source) {
  const { id, title = null } = source;
  if (source.sourceType === "url") return { type: "source-add", id, title, url: source.url } as const;
  const { mediaType, filename = null } = source;
  return { type: "source-add", id, title, document: { mediaType, filename } } as const;
}
