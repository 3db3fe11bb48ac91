/** What a person and the agent said to each other, read back from the log: every prompt and every answer, in order. */
import type { MessageRecord } from "@palimpsest/core/log";
import { aiSdkShape } from "@palimpsest/core/message";

export interface Replayed {
  readonly texts: readonly string[];
  /** All messages, calls and results of tools included. */
  readonly messages: number;
  /** Of all of them, at four characters each. */
  readonly tokens: number;
}

export async function replayedTexts(records: AsyncIterable<MessageRecord>): Promise<Replayed> {
  const texts: string[] = [];
  let messages = 0;
  let characters = 0;
  for await (const { body } of records) {
    messages += 1;
    characters += body.length;
    const message = JSON.parse(body);
    const parts = aiSdkShape.parts(message);
    if (message.role === "tool" || parts.some(({ kind }) => kind === "call")) continue;
    texts.push(parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join(""));
  }
  return { texts, messages, tokens: Math.round(characters / 4) };
}
