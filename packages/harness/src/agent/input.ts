/** What a caller says to a thread: a prompt or messages, checked at the boundary and made ready for the log. */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import { type AiSdkMessage, aiSdkShape, readMessage } from "@palimpsest/core/internal/message";
import {
  asSchema,
  type FlexibleSchema,
  type ModelMessage,
  NoObjectGeneratedError,
  Output,
  type ToolSet,
  type UIMessage,
} from "ai";
import { jsonOf } from "../thread/log.ts";
import type { ThreadLog } from "../thread/thread.ts";
import type { ApprovalAnswer } from "./approval.ts";
import { acceptedWords, type BrowserWords, browserWords, lastCalls } from "./chat/words.ts";
import { AgentError, messageOf } from "./errors.ts";
import type { Run } from "./run.ts";

export interface Incoming {
  readonly prompt?: string | undefined;
  readonly messages?: readonly ModelMessage[] | undefined;
  /**
   * All messages as `useChat` sends them: what the person did last is taken, the thread has the rest. What a user can't say is
   * refused (`not-allowed`), what the thread has already as well (`already-said`); `respond` answers that from the log.
   */
  readonly uiMessages?: readonly UIMessage[] | undefined;
}

interface SaidMessage {
  readonly message: AiSdkMessage;
  /** The client's own name for it. */
  readonly id?: string;
  readonly origin: MessageRecord["origin"];
}

export interface HeardInput {
  readonly said: readonly SaidMessage[];
  /** Words on calls that wait for approval. */
  readonly answers: readonly ApprovalAnswer[];
  /** What a browser says instead, until the thread is held. */
  readonly words: BrowserWords | null;
}

/** Nothing at all means: go on from where the thread stands. Throws an `AgentError` for what can't be said. */
export function readIncoming({ prompt, messages, uiMessages }: Incoming): HeardInput {
  if ([prompt, messages, uiMessages].filter((one) => one !== undefined).length > 1) {
    throw new AgentError("bad-message", "give one of prompt, messages and uiMessages");
  }
  if (uiMessages !== undefined) return { said: [], answers: [], words: browserWords(uiMessages) };
  if (prompt !== undefined) return { said: [said({ role: "user", content: prompt }, 0)], answers: [], words: null };
  const heard = fromMessages(messages ?? []);
  if (messages !== undefined && heard.said.length + heard.answers.length === 0) throw emptyPrompt();
  return heard;
}

function fromMessages(messages: readonly ModelMessage[]): HeardInput {
  const split = messages.map(withoutAnswers);
  return {
    said: split.flatMap(({ message }, index) => (message === null ? [] : [said(message, index)])),
    answers: split.flatMap((one) => one.answers),
    words: null,
  };
}

/** An approval is no message: it is kept in the thread's state. What the SDK writes as the result of a refused call is ours to write. */
function withoutAnswers(given: ModelMessage): {
  readonly message: ModelMessage | null;
  readonly answers: readonly ApprovalAnswer[];
} {
  if (given?.role !== "tool" || !Array.isArray(given.content)) return { message: given, answers: [] };
  const answers = given.content.flatMap((part) => {
    if (part.type !== "tool-approval-response") return [];
    return [
      { callId: part.approvalId, answer: part.approved ? ("yes" as const) : ("no" as const), reason: part.reason },
    ];
  });
  if (answers.length === 0) return { message: given, answers };
  const refused = new Set(answers.map(({ callId }) => callId));
  const content = given.content.filter(
    (part) => part.type === "tool-result" && !(part.output.type === "execution-denied" && refused.has(part.toolCallId)),
  );
  return { message: content.length === 0 ? null : { ...given, content }, answers };
}

function said(given: unknown, index: number): SaidMessage {
  const read = readMessage("ai-sdk", jsonOf(given));
  if (read.kind === "problem")
    throw new AgentError("bad-message", `message ${index + 1} can't be used: ${read.detail}`);
  const { message } = read;
  const blank = aiSdkShape.parts(message).every((part) => part.kind === "text" && part.text.trim() === "");
  if (blank && message.role === "user") throw emptyPrompt();
  return { message, origin: ORIGINS[message.role] };
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;

export function emptyPrompt(): AgentError {
  return new AgentError("empty-prompt", "the prompt is empty: nothing was sent and nothing was written");
}

interface HeardThread {
  readonly log: Pick<ThreadLog<AiSdkMessage>, "header" | "live" | "original" | "head">;
  readonly tools: ToolSet;
}

/** What is said to the thread as it stands now. */
export function heardOn(heard: HeardInput, thread: HeardThread): Pick<HeardInput, "said" | "answers"> {
  if (heard.words === null) return { ...heard, said: withoutKnownResults(heard.said, thread.log) };
  const accepted = acceptedWords(heard.words, thread);
  return {
    answers: accepted.answers,
    said: accepted.said.map(({ message, ...named }, index) => ({ ...said(message, index), ...named })),
  };
}

/** Without results that the thread has. Ids are unique within an answer only, so only what answers the last one counts. */
function withoutKnownResults(
  list: readonly SaidMessage[],
  { live, original }: Pick<ThreadLog<AiSdkMessage>, "live" | "original">,
): readonly SaidMessage[] {
  if (list.every(({ message }) => message.role !== "tool")) return list;
  const { answered: known } = lastCalls(live().tail.map((record) => original(record)));
  return list.flatMap((one) => {
    const { message } = one;
    if (message.role !== "tool") return [one];
    const parts = aiSdkShape.parts(message);
    const fresh = [...parts.keys()].filter((index) => {
      const part = parts[index]!;
      return part.kind !== "result" || !known.has(part.id);
    });
    if (fresh.length === parts.length) return [one];
    return fresh.length === 0 ? [] : [{ ...one, message: aiSdkShape.select(message, fresh) }];
  });
}

// An answer as data: the schema a run asks for, told to the model, and its last answer read by it. An answer that
// doesn't fit is sent back once, with what is wrong; a second one ends the run.

/** A schema (zod or JSON schema) of the object to answer with, or one of the AI SDK's `Output.object`, `array`, `choice`, `json`. */
export type OutputSpec<O> = FlexibleSchema<O> | Output.Output<O>;

export type ResponseFormat = Awaited<Output.Output["responseFormat"]>;

/** Of one run. */
export interface OutputReader {
  readonly format: ResponseFormat;
  /** Null: the model is asked once more; the request is in the log by then. */
  read(
    answer: { readonly text: string; readonly finish: string },
    run: Run,
  ): Promise<{ readonly value: unknown } | null>;
}

export async function outputReader(given: OutputSpec<unknown> | undefined): Promise<OutputReader | null> {
  if (given === undefined) return null;
  const spec = isSpec(given) ? given : Output.object({ schema: asSchema(given) });
  const format = await spec.responseFormat;
  let repaired = false;
  return {
    format,
    async read({ text, finish }, run) {
      const result = await parse(spec, text, finish);
      if ("value" in result) return result;
      if (repaired) {
        const detail = `the answer does not fit the schema that was asked for, also at the second try: ${result.problem}`;
        throw new AgentError("bad-output", detail);
      }
      repaired = true;
      run.emit({ type: "output-repair", problem: result.problem });
      await run.say({ role: "user", content: repairRequest(result.problem, format) }, "injected");
      return null;
    },
  };
}

function isSpec(given: OutputSpec<unknown>): given is Output.Output {
  return typeof given === "object" && given !== null && "parseCompleteOutput" in given;
}

async function parse(spec: Output.Output, text: string, finish: string) {
  const first = await attempt(spec, text, finish);
  const inner = insideFence(text);
  if ("value" in first || inner === null) return first;
  return attempt(spec, inner, finish);
}

/** Models wrap JSON in a code block, asked or not. */
function insideFence(text: string): string | null {
  const lines = text.trim().split("\n");
  const opening = lines[0]!.trim();
  if (opening !== "```" && opening !== "```json") return null;
  return lines.length > 1 && lines.at(-1)?.trim() === "```" ? lines.slice(1, -1).join("\n") : null;
}

async function attempt(
  spec: Output.Output,
  text: string,
  finish: string,
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  try {
    const context = { response: {}, usage: {}, finishReason: finish } as never;
    return { value: await spec.parseCompleteOutput({ text }, context) };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    return { problem: error.cause === undefined ? error.message : messageOf(error.cause) };
  }
}

/** With the schema, for models whose provider doesn't tell them. */
function repairRequest(problem: string, format: ResponseFormat): string {
  const schema = format?.type === "json" && format.schema !== undefined ? JSON.stringify(format.schema) : null;
  return [
    `Your last answer can't be read as the data that was asked for: ${problem.slice(0, MOST_PROBLEM)}`,
    "Answer again with nothing but the JSON, without a code block around it.",
    ...(schema === null ? [] : [`The JSON schema: ${schema}`]),
  ].join("\n");
}

const MOST_PROBLEM = 2_000;
