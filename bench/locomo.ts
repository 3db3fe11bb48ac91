/**
 * Reads a file of long dialogs with questions and the turns that hold their evidence (the LoCoMo layout). It hands out what a
 * search may see and nothing else: answers, event summaries and session summaries are never read.
 */
import { BenchInputError, readData } from "./bench.ts";

export interface Turn {
  readonly id: string;
  /** Counts from 1 within the dialog. */
  readonly seq: number;
  readonly session: number;
  readonly at: string;
  readonly speaker: string;
  readonly text: string;
  /** What the dataset says about an image in the turn. */
  readonly caption: string;
  readonly imageQuery: string;
  /** The dataset's own facts drawn from this turn; only for `--facts`. */
  readonly facts: readonly string[];
}

export interface Question {
  readonly text: string;
  readonly category: number;
  readonly evidence: readonly number[];
}

export interface Dialog {
  readonly id: string;
  readonly turns: readonly Turn[];
  /** Only questions with at least one evidence turn that exists. */
  readonly questions: readonly Question[];
  readonly skipped: number;
}

export const FIELDS = {
  indexed: [
    "conversation.session_N_date_time",
    "conversation.session_N[].speaker",
    "conversation.session_N[].text",
    "conversation.session_N[].blip_caption",
    "conversation.session_N[].query",
  ],
  indexedWithFacts: ["observation"],
  asQuery: ["qa[].question"],
  forScoring: ["conversation.session_N[].dia_id", "qa[].evidence", "qa[].category"],
  never: ["qa[].answer", "qa[].adversarial_answer", "event_summary", "session_summary"],
} as const;

export function readDialogs(path: string | undefined, usage: string): Dialog[] {
  const text = readData(path, usage);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new BenchInputError(`${path} is not JSON; this bench needs a LoCoMo file (a list of dialogs).`);
  }
  const list = Array.isArray(file) ? file : [file];
  const dialogs = list.filter(isRawDialog).map(readDialog);
  if (dialogs.length === 0) throw new BenchInputError(`${path} holds no dialog with "conversation" and "qa".`);
  return dialogs;
}

interface RawDialog {
  readonly sample_id?: string;
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly observation?: Readonly<Record<string, Readonly<Record<string, readonly (readonly unknown[])[]>>>>;
  readonly qa: readonly { question: string; category: number; evidence?: readonly string[] }[];
}

interface RawTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text?: string;
  readonly blip_caption?: string;
  readonly query?: string;
}

function isRawDialog(value: unknown): value is RawDialog {
  return typeof value === "object" && value !== null && "conversation" in value && "qa" in value;
}

function readDialog(raw: RawDialog, index: number): Dialog {
  const facts = factsByTurn(raw);
  const turns: Turn[] = [];
  for (const session of sessionNumbers(raw)) {
    const at = readDate(String(raw.conversation[`session_${session}_date_time`] ?? ""));
    for (const turn of raw.conversation[`session_${session}`] as readonly RawTurn[]) {
      turns.push({
        id: turn.dia_id,
        seq: turns.length + 1,
        session,
        at,
        speaker: turn.speaker,
        text: turn.text ?? "",
        caption: turn.blip_caption ?? "",
        imageQuery: turn.query ?? "",
        facts: facts.get(turn.dia_id) ?? [],
      });
    }
  }
  const seqById = new Map(turns.map(({ id, seq }) => [id, seq]));
  const asked = raw.qa.map(({ question, category, evidence }) => ({
    text: question,
    category,
    evidence: evidenceSeqs(evidence ?? [], seqById),
  }));
  const questions = asked.filter(({ evidence }) => evidence.length > 0);
  return { id: raw.sample_id ?? String(index + 1), turns, questions, skipped: asked.length - questions.length };
}

function sessionNumbers(raw: RawDialog): number[] {
  return Object.keys(raw.conversation)
    .map((key) => /^session_(\d+)$/.exec(key)?.[1])
    .filter((found) => found !== undefined && Array.isArray(raw.conversation[`session_${found}`]))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Ids come as `D1:3`, sometimes several in one string or with leading zeros. */
function evidenceSeqs(evidence: readonly string[], seqById: ReadonlyMap<string, number>): number[] {
  const seqs = new Set<number>();
  for (const [, session, turn] of evidence.join(" ").matchAll(/D(\d+):(\d+)/g)) {
    const seq = seqById.get(`D${Number(session)}:${Number(turn)}`);
    if (seq !== undefined) seqs.add(seq);
  }
  return [...seqs];
}

function factsByTurn(raw: RawDialog): Map<string, string[]> {
  const facts = new Map<string, string[]>();
  for (const session of Object.values(raw.observation ?? {})) {
    for (const [fact, ids] of Object.values(session).flat()) {
      for (const id of Array.isArray(ids) ? ids : [ids]) {
        const list = facts.get(String(id)) ?? [];
        list.push(String(fact));
        facts.set(String(id), list);
      }
    }
  }
  return facts;
}

/** `1:56 pm on 8 May, 2023` as ISO 8601 in UTC. */
function readDate(written: string): string {
  const found = /(\d+):(\d+)\s*(am|pm)\s+on\s+(\d+)\s+(\w+),?\s+(\d{4})/i.exec(written);
  if (!found) return new Date(0).toISOString();
  const [, hour, minute, half, day, month, year] = found;
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0);
  const date = new Date(`${day} ${month} ${year} ${String(hours).padStart(2, "0")}:${minute}:00 UTC`);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}
