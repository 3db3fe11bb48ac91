/**
 * A recorded conversation ready to be played: messages in the OpenAI shape, when they came, what was reported, and a token
 * count fitted to the reports where there are any. Broken tool traffic is repaired the way the agent would.
 */

import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { convert, detectDialect, openaiRules, openaiShape, repair } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { charsPerToken, createMeter, type Meter } from "@palimpsest/core/internal/tokens";
import type { ImportedConversation } from "palimpsest/import";

export interface Turn {
  readonly message: OpenAiMessage;
  readonly at: number;
  /** Tokens the provider reported for producing it; null where it didn't. */
  readonly output: number | null;
}

export interface Transcript {
  readonly name: string;
  readonly turns: readonly Turn[];
  readonly meter: Meter<OpenAiMessage>;
  /** System prompt and tools that aren't among the messages. */
  readonly fixedTokens: number;
  readonly repairs: number;
  /** Asked when it has ended. */
  readonly questions: readonly EvidenceQuestion[];
  /** Questions of the file that name no message of it. */
  readonly unasked: number;
}

/** A question and the turns that hold what it asks for, as indices; at least one. */
export interface EvidenceQuestion {
  readonly text: string;
  readonly evidence: readonly number[];
}

/** A message with what the provider reported for the request that produced it. */
interface TranscriptUsage {
  readonly message: OpenAiMessage;
  /** The whole prompt, cached part included; 0 where nothing was reported. */
  readonly input: number;
  /** Reports are compared only within one of these: where it changes, the prompt was rebuilt. */
  readonly segment: number;
}

const CHARACTERS_PER_TOKEN = 3.3;
/** Between two messages of a file without times. */
const PACE_MS = 30_000;

export type ReplayedConversation = Pick<ImportedConversation, "messages" | "questions">;

export function transcriptOf(name: string, { messages, questions }: ReplayedConversation): Transcript {
  const values = messages.map(({ value }) => value);
  const { dialect } = detectDialect(values);
  const converted = convert(values as never[], dialect, "openai");
  const { messages: valid, repairs } = repair(converted, openaiShape, openaiRules);
  const same = valid.length === messages.length;
  const turns = valid.map((message, index): Turn => {
    const from = same ? messages[index] : undefined;
    const at = from?.at == null ? index * PACE_MS : Date.parse(from.at) || index * PACE_MS;
    return { message, at, output: from?.usage?.output ?? null };
  });
  const reported = same
    ? valid.map((message, index) => ({ message, input: messages[index]!.usage?.input ?? 0, segment: 0 }))
    : [];
  const evidence = evidenceQuestions(questions, converted, valid);
  const unasked = questions.length - evidence.length;
  return { name, turns, repairs: repairs.length, ...fitTo(reported), questions: evidence, unasked };
}

/** Messages are numbered from 1 in the file; what the repair rewrote can't be asked for. */
function evidenceQuestions(
  questions: ImportedConversation["questions"],
  messages: readonly OpenAiMessage[],
  valid: readonly OpenAiMessage[],
): EvidenceQuestion[] {
  const places = new Map(valid.map((message, index) => [message, index]));
  return questions.flatMap((pair) => {
    if (!isRecord(pair) || typeof pair["question"] !== "string" || !Array.isArray(pair["evidence"])) return [];
    const evidence = pair["evidence"].flatMap((number) => places.get(messages[Number(number) - 1]!) ?? []);
    return evidence.length === 0 ? [] : [{ text: pair["question"], evidence: [...new Set(evidence)] }];
  });
}

/** Characters per token from the growth the provider reported, and what it counted before the first message. */
export function fitTo(lines: readonly TranscriptUsage[]): { meter: Meter<OpenAiMessage>; fixedTokens: number } {
  let count = 0;
  let pending = 0;
  let tokens = 0;
  let last: TranscriptUsage | null = null;
  for (const line of lines) {
    const { input } = line;
    if (input > 0) {
      const grown = last === null ? 0 : input - last.input;
      if (last !== null && grown > 0 && last.segment === line.segment) {
        count += pending;
        tokens += grown;
      }
      last = line;
      pending = 0;
    }
    pending += characters.message(line.message);
  }
  const perToken = tokens > 1000 ? count / tokens : CHARACTERS_PER_TOKEN;
  const firstReport = lines.findIndex((line) => line.input > 0);
  const before = lines
    .slice(0, Math.max(0, firstReport))
    .reduce((sum, line) => sum + characters.message(line.message), 0);
  const fixedTokens = firstReport < 0 ? 0 : Math.max(0, Math.round(lines[firstReport]!.input - before / perToken));
  return { meter: createMeter(openaiShape, { counter: charsPerToken(perToken) }), fixedTokens };
}

const characters = createMeter(openaiShape, { counter: charsPerToken(1) });
