/**
 * Files of questions, each recognized by its form: LoCoMo (dialogs of two people), BEAM (a person with an assistant), exact
 * values (a thread with tools and one string as the answer); and questions made of a recorded session. All become threads of
 * messages with questions and the messages that hold their evidence. Answers are for scoring only, never for searching.
 */

import { jsonOr, type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { indexableText } from "@palimpsest/core/internal/recall";
import { isRecord } from "@palimpsest/core/internal/text";
import { z } from "zod";
import { dialogsIn } from "../replay/dialogs.ts";
import { knownItems } from "./known-items.ts";

export interface SearchedMessage {
  /** Counts from 1 within the thread. */
  readonly seq: number;
  readonly session: number;
  /** ISO 8601. */
  readonly at: string;
  readonly speaker: string;
  readonly text: string;
  /** What the file says about an image in the message. */
  readonly caption: string;
  readonly imageQuery: string;
}

export interface SearchQuestion {
  readonly kind: string;
  readonly text: string;
  /** Seqs of messages. */
  readonly evidence: readonly number[];
  /** The file's answer, for the strict figure; null where it has none. */
  readonly answer: string | null;
  /** A string that the shown text must hold for the strict figure. */
  readonly expected?: string;
  /** Only messages before this one can be hits: the question was asked there. */
  readonly before?: number;
}

export interface SearchedThread {
  readonly set: string;
  readonly id: string;
  readonly turns: readonly SearchedMessage[];
  readonly questions: readonly SearchQuestion[];
  /** Questions whose evidence names no message that is there. */
  readonly skipped: number;
}

export type QuestionFile =
  /** `histories`: of files of exact values. */
  | {
      readonly kind: "questions";
      readonly threads: readonly SearchedThread[];
      readonly histories: readonly ExactHistory[];
    }
  /** JSON, but none of these forms. */
  | { readonly kind: "unknown" }
  | { readonly kind: "damaged"; readonly problem: string };

/** A file's text, which is one JSON array. */
export function readQuestions(text: string): QuestionFile {
  const file = jsonOr(text, undefined);
  if (file === undefined) return { kind: "damaged", problem: "is not JSON" };
  const list = Array.isArray(file) ? file.filter(isRecord) : [];
  if (list.some((one) => isRecord(one["conversation"]))) return questions(dialogsIn(list).map(fromDialog));
  if (list.some((one) => "authoritativeRecords" in one)) return parsed(z.array(exactHistory), list, fromExactHistories);
  if (list.some((one) => Array.isArray(one["messages"]) && Array.isArray(one["questions"])))
    return parsed(z.array(beamChat), list, (chats) => questions(chats.map(fromBeam)));
  return { kind: "unknown" };
}

function questions(threads: readonly SearchedThread[], histories: readonly ExactHistory[] = []): QuestionFile {
  return { kind: "questions", threads, histories };
}

function parsed<T>(schema: z.ZodType<T>, value: unknown, read: (data: T) => QuestionFile): QuestionFile {
  const result = schema.safeParse(value);
  if (result.success) return read(result.data);
  const { path, message } = result.error.issues[0]!;
  return { kind: "damaged", problem: `is damaged at ${path.join(".")}: ${message}` };
}

function fromDialog({ id, turns, questions, skipped }: ReturnType<typeof dialogsIn>[number]): SearchedThread {
  const own = questions.map((question) => ({ ...question, kind: `category ${question.category}`, answer: null }));
  return { set: "LoCoMo", id, turns, questions: own, skipped };
}

const beamMessage = z.object({
  id: z.number(),
  role: z.string(),
  session: z.number(),
  date: z.string().nullish(),
  text: z.string(),
});
const beamQuestion = z.object({
  kind: z.string(),
  question: z.string(),
  evidence: z.array(z.number()),
  answer: z.unknown(),
});
const beamChat = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  messages: z.array(beamMessage),
  questions: z.array(beamQuestion),
});

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A session is a day, its messages a minute apart. One without a date is the day after the one before it. */
function fromBeam({ id, messages, questions }: z.infer<typeof beamChat>, index: number): SearchedThread {
  let clock = Date.UTC(2024, 0, 1);
  let session: number | null = null;
  const turns = messages.map((message, at): SearchedMessage => {
    if (message.session !== session) {
      const date = Date.parse(`${String(message.date ?? "").replaceAll("-", " ")} UTC`);
      const next = session === null ? clock : clock - (clock % DAY_MS) + DAY_MS;
      clock = Number.isNaN(date) ? next : Math.max(date, session === null ? date : next);
      session = message.session;
    } else clock += MINUTE_MS;
    return {
      seq: at + 1,
      session: message.session,
      at: new Date(clock).toISOString(),
      speaker: message.role,
      text: message.text,
      caption: "",
      imageQuery: "",
    };
  });
  const seqs = new Map(messages.map((message, at) => [message.id, at + 1]));
  const name = String(id ?? index + 1);
  const own = questions.map(({ kind, question, evidence, answer }) => ({
    kind,
    text: question,
    evidence: [...new Set(evidence.flatMap((one) => seqs.get(one) ?? []))],
    answer: typeof answer === "string" ? answer : JSON.stringify(answer),
  }));
  const asked = own.filter(({ evidence }) => evidence.length > 0);
  const size = /^(\d+[KM])\b/.exec(name)?.[1];
  return {
    set: size === undefined ? "BEAM" : `BEAM ${size}`,
    id: name,
    turns,
    questions: asked,
    skipped: own.length - asked.length,
  };
}

const exactPart = z.object({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.unknown().optional(),
});
const exactMessage = z.object({
  role: z.enum(["user", "assistant", "toolResult"]),
  content: z.union([z.string(), z.array(exactPart)]),
  toolCallId: z.string().optional(),
  timestamp: z.number(),
});
const exactQuestion = z.object({ category: z.string(), question: z.string(), expected: z.string() });
const exactHistory = z.object({
  id: z.union([z.string(), z.number()]),
  messages: z.array(exactMessage),
  questions: z.array(exactQuestion),
});

/** A history of exact values, with questions whose answer is one string. */
export interface ExactHistory {
  readonly id: string;
  readonly messages: readonly TimedMessage[];
  readonly questions: readonly ExactQuestion[];
}

interface ExactQuestion {
  readonly kind: string;
  readonly text: string;
  /** What the answer is made of, the most telling first. */
  readonly values: readonly string[];
}

function fromExactHistories(raw: readonly z.infer<typeof exactHistory>[]): QuestionFile {
  const histories = raw.map(
    ({ id, messages, questions: asked }): ExactHistory => ({
      id: String(id),
      messages: messages.map((message) => ({
        at: new Date(message.timestamp).toISOString(),
        message: asOpenAi(message),
      })),
      questions: asked.map(({ category, question, expected }) => ({
        kind: category,
        text: question,
        values: valueParts(expected),
      })),
    }),
  );
  return questions(histories.map(fromExact), histories);
}

/** The evidence of a question is every message that holds the name it asks for and the expected string. */
function fromExact({ id, messages, questions: asked }: ExactHistory): SearchedThread {
  const turns = turnsOf(messages);
  const all = asked.map(({ kind, text: question, values }): SearchQuestion => {
    const name = /(?<![a-z-])[a-z-]+-\d+-\d+/.exec(question)?.[0] ?? "";
    const holds = turns.filter(({ text }) => namesExactly(text, name) && values.every((part) => text.includes(part)));
    return {
      kind,
      text: question,
      evidence: holds.map(({ seq }) => seq),
      answer: null,
      expected: values[0]!,
    };
  });
  const found = all.filter(({ evidence }) => evidence.length > 0);
  return { set: "exact values", id, turns, questions: found, skipped: all.length - found.length };
}

function namesExactly(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/\d/.test(text[at + name.length] ?? "")) return true;
  return false;
}

/** `STATE|receipt=VALUE|next=VALUE` is asked for in that form and told in another: its values, the telling one first. */
function valueParts(expected: string): string[] {
  const values = expected.split("|").map((part) => part.slice(part.indexOf("=") + 1));
  return values.length === 1 ? values : values.slice(1);
}

function asOpenAi({ role, content, toolCallId }: z.infer<typeof exactMessage>): OpenAiMessage {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const text = parts.map((part) => part.text ?? "").join("\n");
  if (role === "toolResult") return { role: "tool", tool_call_id: toolCallId ?? "", content: text };
  const calls = parts.filter(({ type }) => type === "toolCall");
  if (role === "user" || calls.length === 0) return { role, content: text } as OpenAiMessage;
  return {
    role,
    content: text,
    tool_calls: calls.map((call) => ({
      id: call.id ?? "",
      type: "function",
      function: { name: call.name ?? "", arguments: JSON.stringify(call.arguments) },
    })),
  } as OpenAiMessage;
}

/** Questions made of the messages of a recorded session. */
export function fromSession(id: string, messages: readonly TimedMessage[]): SearchedThread[] {
  const turns = turnsOf(messages);
  return knownItems(turns, (seq) => saidText(messages[seq - 1]!.message)).map((own) => ({
    ...own,
    id,
    turns,
    skipped: 0,
  }));
}

/** The words of a person or of the model, without calls and results. */
function saidText(message: OpenAiMessage): string {
  if (message.role !== "user" && message.role !== "assistant") return "";
  return openaiShape
    .parts(message)
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("\n");
}

export interface TimedMessage {
  /** ISO 8601. */
  readonly at: string;
  readonly message: OpenAiMessage;
}

/** As the index reads them. A message without words keeps its number and can't be found. */
function turnsOf(messages: readonly TimedMessage[]): SearchedMessage[] {
  return messages.map(({ at, message }, index) => {
    const indexable = indexableText(message, openaiShape, { origin: "user" });
    return {
      seq: index + 1,
      session: 1,
      at,
      speaker: indexable?.speaker ?? message.role,
      text: indexable?.text ?? "",
      caption: "",
      imageQuery: "",
    };
  });
}
