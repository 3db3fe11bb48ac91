/** What was heard of a step that has not ended, so that a stop loses none of it. Writes nothing. */
import type { ContentPart, ModelMessage, TextStreamPart, ToolResultPart, ToolSet } from "ai";
import { answerMessage, resultOutput } from "../agent/stream.ts";
import type { IdentifiedMessage } from "../thread/log.ts";

export class HeardStep {
  #text = "";
  /** The whole answer, once the model's call has ended; its tools run then. */
  #answer: readonly ContentPart<ToolSet>[] | null = null;
  readonly #results: HeardResult[] = [];

  hear(chunk: TextStreamPart<ToolSet>): void {
    if (chunk.type === "text-delta") this.#text += chunk.text;
    const isResult = chunk.type === "tool-error" || (chunk.type === "tool-result" && chunk.preliminary !== true);
    if (isResult) this.#results.push(chunk);
  }

  answered(content: readonly ContentPart<ToolSet>[]): void {
    this.#answer = content;
  }

  /** The answer and the results that came; of an answer that was cut off, its text as `aborted`. */
  async messages(tools: ToolSet): Promise<readonly Pick<IdentifiedMessage<ModelMessage>, "message" | "origin">[]> {
    if (this.#answer === null) {
      if (this.#text.trim() === "") return [];
      return [{ message: { role: "assistant", content: [{ type: "text", text: this.#text }] }, origin: "aborted" }];
    }
    // Core's type names the same fields as the SDK's, read-only.
    const answer = (await answerMessage(this.#answer, tools)) as ModelMessage | null;
    const own = this.#results.filter(({ providerExecuted }) => providerExecuted !== true);
    const content = await Promise.all(own.map((result) => resultPart(result, tools)));
    return [
      ...(answer === null ? [] : [{ message: answer }]),
      ...(content.length === 0 ? [] : [{ message: { role: "tool" as const, content } }]),
    ];
  }
}

type HeardResult = Extract<TextStreamPart<ToolSet>, { type: "tool-result" | "tool-error" }>;

async function resultPart(result: HeardResult, tools: ToolSet): Promise<ToolResultPart> {
  const { toolCallId, toolName } = result;
  const output =
    result.type === "tool-error"
      ? { type: "error-text" as const, value: String(result.error) }
      : await resultOutput(result, tools);
  return { type: "tool-result", toolCallId, toolName, output };
}
