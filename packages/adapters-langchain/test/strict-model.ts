/** A chat model of LangChain's kind that is as strict as a provider: what breaks its rules or doesn't fit is refused. */
import { randomUUID } from "node:crypto";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, mapChatMessagesToStoredMessages } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { forRequest, type LangChainMessage, rulesOf, shapeOf, violations } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";

export interface StrictModelOptions {
  /** What it accepts; more is answered with an error as providers word it. */
  readonly limit: number;
  /** What it says of its own window. */
  readonly stated?: number;
  readonly answer: (messages: readonly BaseMessage[], index: number) => AIMessage;
}

export interface Sent {
  readonly messages: readonly BaseMessage[];
  readonly tokens: number;
  readonly broken: readonly string[];
  readonly verdict: "answered" | "too-long";
}

const shape = shapeOf("langchain");
const rules = forRequest(rulesOf("langchain"));
const meter = createMeter(shape, { counter: charsPerToken(4) });

export class StrictModel extends BaseChatModel {
  readonly sent: Sent[] = [];
  readonly #options: StrictModelOptions;

  constructor(options: StrictModelOptions) {
    super({ maxRetries: 0 });
    this.#options = options;
  }

  override get profile() {
    return { maxInputTokens: this.#options.stated ?? this.#options.limit };
  }

  override _llmType(): string {
    return "strict";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const stored = mapChatMessagesToStoredMessages(messages) as unknown as LangChainMessage[];
    const tokens = meter.messages(stored);
    const broken = violations(stored, shape, rules).map(({ rule, index }) => `${rule} at ${index}`);
    const tooLong = tokens > this.#options.limit;
    this.sent.push({ messages, tokens, broken, verdict: tooLong ? "too-long" : "answered" });
    if (tooLong)
      throw new Error(
        `400 This model's maximum context length is ${this.#options.limit} tokens. You requested ${tokens}.`,
      );
    const answers = this.sent.filter(({ verdict }) => verdict === "answered");
    const message: AIMessage = this.#options.answer(messages, answers.length);
    Object.assign(message, { usage_metadata: { input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 } });
    return { generations: [{ text: message.text, message }] };
  }
}

/** Sounds once for each question, then answers. */
export function sailor(messages: readonly BaseMessage[], index: number): AIMessage {
  if (messages.at(-1)?.getType() === "tool") return new AIMessage({ content: `answer ${index}`, id: randomUUID() });
  const call = { name: "sound", args: { buoy: index }, id: randomUUID(), type: "tool_call" as const };
  return new AIMessage({ content: "", id: randomUUID(), tool_calls: [call] });
}
