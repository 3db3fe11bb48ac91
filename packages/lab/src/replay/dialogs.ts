/**
 * Long dialogs with questions and the turns that hold their evidence, in the layout LoCoMo is published in: sessions of
 * turns with ids, questions that name ids. It hands out what a search may see: answers, event and session summaries are never read.
 */
import { isRecord } from "@palimpsest/core/internal/text";

export interface DialogTurn {
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
  /** The dataset's own facts drawn from this turn. */
  readonly facts: readonly string[];
}

export interface DialogQuestion {
  readonly text: string;
  readonly category: number;
  /** Seqs of turns. */
  readonly evidence: readonly number[];
}

export interface Dialog {
  readonly id: string;
  readonly turns: readonly DialogTurn[];
  /** Only questions with at least one evidence turn that exists. */
  readonly questions: readonly DialogQuestion[];
  readonly skipped: number;
}

/** The dialogs of a parsed file, one or a list of them; none where it has another layout. */
export function dialogsIn(file: unknown): Dialog[] {
  return (Array.isArray(file) ? file : [file]).filter(isRawDialog).map(readDialog);
}

interface RawDialog {
  readonly sample_id?: unknown;
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly observation?: unknown;
  readonly qa: readonly unknown[];
}

function isRawDialog(value: unknown): value is RawDialog {
  return isRecord(value) && isRecord(value["conversation"]) && Array.isArray(value["qa"]);
}

function readDialog(raw: RawDialog, index: number): Dialog {
  const facts = factsByTurn(raw.observation);
  const turns: DialogTurn[] = [];
  for (const session of sessionNumbers(raw)) {
    const at = readDate(text(raw.conversation[`session_${session}_date_time`]));
    for (const turn of objects(raw.conversation[`session_${session}`])) {
      const id = text(turn["dia_id"]);
      turns.push({
        id,
        seq: turns.length + 1,
        session,
        at,
        speaker: text(turn["speaker"]),
        text: text(turn["text"]),
        caption: text(turn["blip_caption"]),
        imageQuery: text(turn["query"]),
        facts: facts.get(id) ?? [],
      });
    }
  }
  const seqById = new Map(turns.map(({ id, seq }) => [id, seq]));
  const qa = objects(raw.qa).map(({ question, category, evidence }) => ({
    text: text(question),
    category: Number(category),
    evidence: evidenceSeqs(evidence, seqById),
  }));
  const questions = qa.filter(({ evidence }) => evidence.length > 0);
  return { id: text(raw.sample_id) || String(index + 1), turns, questions, skipped: raw.qa.length - questions.length };
}

function sessionNumbers(raw: RawDialog): number[] {
  return Object.keys(raw.conversation)
    .map((key) => /^session_(\d+)$/.exec(key)?.[1])
    .filter((turn) => turn !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Ids come as `D1:3`, sometimes several in one string or with leading zeros. */
function evidenceSeqs(evidence: unknown, seqById: ReadonlyMap<string, number>): number[] {
  const written = Array.isArray(evidence) ? evidence.map(text).join(" ") : "";
  const ids = [...written.matchAll(/D(\d+):(\d+)/g)].map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`);
  return [...new Set(ids.flatMap((id) => seqById.get(id) ?? []))];
}

/** `{session: {speaker: [[fact, id or ids], ...]}}` */
function factsByTurn(observation: unknown): Map<string, string[]> {
  const facts = new Map<string, string[]>();
  const sessions = isRecord(observation) ? Object.values(observation).filter(isRecord) : [];
  for (const pair of sessions.flatMap((session) => Object.values(session).flat())) {
    const [fact, ids] = Array.isArray(pair) ? (pair as unknown[]) : [];
    for (const id of Array.isArray(ids) ? ids : [ids])
      facts.set(text(id), [...(facts.get(text(id)) ?? []), text(fact)]);
  }
  return facts;
}

/** `1:56 pm on 8 May, 2023` as ISO 8601 in UTC. */
function readDate(written: string): string {
  const match = /(\d{1,2}):(\d{1,2})\s*(am|pm)\s+on\s+(\d+)\s+(\w+),?\s+(\d{4})/i.exec(written);
  if (!match) return new Date(0).toISOString();
  const [, hour, minute, half, day, month, year] = match;
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0);
  const date = new Date(`${day} ${month} ${year} ${String(hours).padStart(2, "0")}:${minute}:00 UTC`);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}

function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
