/** The data files of the search bench, each recognized by its form: what `eval` reads, and recorded sessions. */

import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import {
  type ExactHistory,
  fromSession,
  readQuestions,
  type SearchedMessage,
  type SearchedThread,
} from "../../packages/lab/src/eval/question-data.ts";
import { BenchInputError, readData } from "../bench.ts";
import { readSession } from "../session.ts";

const FORMS = "LoCoMo, BEAM, exact values or a recorded session";

export function readThreads(path: string | undefined, usage: string): readonly SearchedThread[] {
  const text = readData(path, usage);
  const threads = text.trimStart().startsWith("[") ? fromJson(path!, text, FORMS).threads : fromLines(path!);
  if (threads.every(({ questions }) => questions.length === 0))
    throw new BenchInputError(`${path} holds no question with evidence; this bench reads files of ${FORMS}.`);
  return threads;
}

export function readExactHistories(path: string | undefined, usage: string): readonly ExactHistory[] {
  const { histories } = fromJson(path!, readData(path, usage), "exact values");
  if (histories.length === 0)
    throw new BenchInputError(`${path} holds no history; this bench reads files of exact values.`);
  return histories;
}

function fromJson(path: string, text: string, forms: string) {
  const file = readQuestions(text);
  if (file.kind === "questions") return file;
  const problem = file.kind === "damaged" ? file.problem : "has none of the known forms";
  throw new BenchInputError(`${path} ${problem}; this bench reads files of ${forms}.`);
}

function fromLines(path: string): SearchedThread[] {
  const messages = readSession(path, "quality search FILE").flatMap((line) => {
    if (line.kind !== "message") return [];
    if (!isMessage(line.message)) throw new BenchInputError(`${path} is damaged: a message without a role.`);
    return [{ at: line.at, message: line.message }];
  });
  return fromSession("session", messages);
}

/** A turn is joined to the speaker's last one while that is shorter than this, in characters. */
const MEETING_TURNS = [400, 1_500] as const;

/** Dialogs of named speakers as meetings: long turns with names, which no other file has. */
export function asMeetings(threads: readonly SearchedThread[]): SearchedThread[] {
  const dialogs = threads.filter(({ set }) => set === "LoCoMo");
  return MEETING_TURNS.flatMap((characters) => dialogs.map((thread) => withLongTurns(thread, characters)));
}

function withLongTurns(thread: SearchedThread, characters: number): SearchedThread {
  const turns: SearchedMessage[] = [];
  const joined = new Map<number, number>();
  for (const own of Map.groupBy(thread.turns, ({ session }) => session).values()) {
    const last = new Map<string, number>();
    for (const turn of own) {
      const before = turns[last.get(turn.speaker) ?? -1];
      const isNew = before === undefined || before.text.length > characters;
      const at = isNew ? turns.length : last.get(turn.speaker)!;
      const text = isNew ? turn.text : `${before.text} ${turn.text}`;
      const caption = isNew ? turn.caption : `${before.caption} ${turn.caption}`.trim();
      turns[at] = { ...(isNew ? turn : before), seq: at + 1, text, caption };
      last.set(turn.speaker, at);
      joined.set(turn.seq, at + 1);
    }
  }
  const questions = thread.questions.map((question) => ({
    ...question,
    evidence: [...new Set(question.evidence.map((seq) => joined.get(seq)!))],
  }));
  return { ...thread, set: `meetings, turns of ${characters}`, turns, questions };
}

/** What is read of a recorded message before its shape reads the rest. */
function isMessage(value: unknown): value is OpenAiMessage {
  return isRecord(value) && typeof value["role"] === "string";
}
