/** When each row of a recording appears, in seconds from its beginning: a reader's pace, not the machine's. */
import { type Recording, type Row, type Scene, textOf } from "./record.ts";

export interface Shown {
  readonly row: Row;
  readonly from: number;
  /** Where the row is typed: when the first and the last character stand there. */
  readonly typed: { readonly from: number; readonly to: number } | null;
}

export interface Timeline {
  readonly rows: readonly Shown[];
  /** The bars, each from when it stands there. */
  readonly bars: readonly { readonly row: Row; readonly from: number }[];
  readonly captions: readonly { readonly text: string; readonly from: number }[];
  readonly seconds: number;
}

export function timelineOf({ opening, scenes }: Recording): Timeline {
  const rows: Shown[] = opening.map((row) => ({ row, from: 0, typed: null }));
  const bars: { row: Row; from: number }[] = [];
  const captions: { text: string; from: number }[] = [];
  let now = OPENING;
  for (const scene of scenes) {
    if (captions.at(-1)?.text !== scene.act.caption) captions.push({ text: scene.act.caption, from: now });
    const shown = shownOf(scene, now);
    rows.push(...shown);
    now = shown.at(-1)!.from;
    bars.push({ row: scene.rows.at(-1)!, from: now });
    now += scene.act.how === "paste" ? BETWEEN_PASTES : TO_READ;
  }
  return { rows, bars, captions, seconds: now + AT_THE_END };
}

function shownOf({ act, prompt, rows }: Scene, start: number): Shown[] {
  const characters = prompt.length - PROMPT;
  const from = start + BEFORE_TYPING;
  const to = from + (act.how === "paste" ? 0 : characters * A_KEY);
  let now = to + BEFORE_ANSWER;
  const answer = rows.map((row) => {
    const shown = { row, from: now, typed: null };
    now += /^-- compacted|^ {2}> /.test(textOf(row)) ? TO_NOTICE : A_ROW;
    return shown;
  });
  return [{ row: prompt, from: start, typed: { from, to } }, ...answer];
}

/** `> ` */
export const PROMPT = 2;

const OPENING = 0.6;
const BEFORE_TYPING = 0.4;
const A_KEY = 0.055;
const BEFORE_ANSWER = 0.45;
const A_ROW = 0.12;
const TO_NOTICE = 1;
const BETWEEN_PASTES = 0.7;
const TO_READ = 1.6;
const AT_THE_END = 6;
