/**
 * A file to evaluate: questions with their evidence (LoCoMo, BEAM, exact values), or sessions, which is whatever `import` reads.
 * A file that is missing, empty, too large, broken or of an unknown form is one sentence.
 */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { errorText } from "@palimpsest/core/internal/text";
import { readTranscripts } from "../replay/read-transcripts.ts";
import type { Turn } from "../replay/transcript.ts";
import { type ExactHistory, readQuestions, type SearchedThread } from "./question-data.ts";

/** What is evaluated under one name. */
export interface EvalInput {
  readonly name: string;
  /** They are played, and searched for what is said in them again. */
  readonly sessions: readonly EvalSession[];
  /** How many there are, where not all of them were read. */
  readonly of: number;
  readonly threads: readonly SearchedThread[];
  readonly histories: readonly ExactHistory[];
}

export interface EvalSession {
  readonly name: string;
  readonly turns: readonly Turn[];
  /** How many messages it has, where not all of them were read. */
  readonly of: number;
}

export type ReadInput =
  | { readonly kind: "read"; readonly input: EvalInput; readonly problems: readonly string[] }
  | { readonly kind: "unreadable"; readonly problem: string };

const MB = 1024 * 1024;
const MOST_BYTES = 256 * MB;
const ARCHIVE = { files: 1_000, bytes: MOST_BYTES };
const FORMS = "eval reads LoCoMo, BEAM, exact values and what import reads";

export async function readEvalFile(path: string): Promise<ReadInput> {
  const refuse = (problem: string): ReadInput => ({ kind: "unreadable", problem: `${path} ${problem}.` });
  try {
    const file = await stat(path);
    if (file.isDirectory()) return refuse("is a folder: name a file");
    if (file.size > MOST_BYTES)
      return refuse(`has ${Math.round(file.size / MB)} MB: eval reads files of at most ${MOST_BYTES / MB} MB`);
    const bytes = await readFile(path);
    if (bytes.toString("utf8", 0, MB).trim() === "") return refuse("is empty");
    const questions = questionsIn(bytes);
    if (questions?.kind === "damaged") return refuse(`${questions.problem}: ${FORMS}`);
    const name = basename(path);
    if (questions?.kind === "questions") return readQuestionFile(name, questions, refuse);
    return readSessions(name, path, await readTranscripts(name, bytes, ARCHIVE), refuse);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    return refuse(code === "ENOENT" ? "does not exist" : `can't be read: ${errorText(error)}`);
  }
}

/** Null: it doesn't begin like one. */
function questionsIn(bytes: Buffer): ReturnType<typeof readQuestions> | null {
  const isArray = bytes.toString("utf8", 0, 1_000).trimStart().startsWith("[");
  return isArray ? readQuestions(bytes.toString("utf8")) : null;
}

type Refuse = (problem: string) => ReadInput;
type FileQuestions = Extract<ReturnType<typeof readQuestions>, { kind: "questions" }>;

function readQuestionFile(name: string, { threads, histories }: FileQuestions, refuse: Refuse): ReadInput {
  if (threads.every(({ questions }) => questions.length === 0)) return refuse("holds no question with evidence");
  return { kind: "read", input: { name, sessions: [], of: 0, threads, histories }, problems: [] };
}

type Sessions = Awaited<ReturnType<typeof readTranscripts>>;

function readSessions(name: string, path: string, { transcripts, problems }: Sessions, refuse: Refuse): ReadInput {
  if (transcripts.length === 0) return refuse(`holds no session (${problems[0] ?? "no message in it"}): ${FORMS}`);
  const told = problems.map((problem) => `${path}: ${problem}`);
  const sessions = transcripts.map((one): EvalSession => ({ name: one.name, turns: one.turns, of: one.turns.length }));
  return { kind: "read", input: { name, sessions, of: sessions.length, threads: [], histories: [] }, problems: told };
}
