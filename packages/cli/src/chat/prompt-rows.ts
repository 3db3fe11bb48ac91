/** The rows at the bottom of a chat: what goes on, what waits to be said, the line being typed. Pure. */
import type { LiveRows } from "../terminal/display.ts";
import { clipColumns, columns, printable, rowsOf } from "../terminal/output.ts";
import { type Activity, type InputState, isWaiting } from "./input.ts";
import { shownText } from "./line-editor.ts";

export interface PromptStatus extends Activity {
  /** When the person's message was sent. */
  readonly since: number;
}

export interface RowsOptions {
  readonly width: number;
  readonly height: number;
  readonly now: number;
  readonly color: boolean;
}

const PROMPT = "> ";
const APPROVE = "Run it? [y/n/a] > ";
const MORE = ". ";

export function promptRows(state: InputState, status: PromptStatus | null, options: RowsOptions): LiveRows {
  const { width, height, color } = options;
  const dim = (text: string): string => {
    const row = clipColumns(printable(text), width - 1);
    return color ? `\u001b[2m${row}\u001b[22m` : row;
  };
  const typed = typedRows(state, width - 1);
  const head = [
    ...(status === null || isWaiting(state.phase) ? [] : [dim(statusText(status, options))]),
    ...state.queue.map(({ shown }) => dim(`  queued: ${shown.replaceAll("\n", " ⏎ ")}`)),
  ];
  const tail = state.hint === null ? [] : [dim(`(${state.hint})`)];
  // What doesn't fit is left out far from the cursor.
  const room = Math.max(1, height - 1 - head.length - tail.length);
  const first = Math.max(0, Math.min(typed.cursor.row - Math.floor(room / 2), typed.rows.length - room));
  return {
    rows: [...head, ...typed.rows.slice(first, first + room), ...tail],
    cursor: { row: head.length + typed.cursor.row - first, column: typed.cursor.column },
  };
}

/** What was said, as it stays on the screen. */
export function saidText(text: string): string {
  return `${PROMPT}${text.replaceAll("\n", `\n${MORE}`)}`;
}

const SIGNS = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
export const SIGN_MS = 120;

function statusText({ doing, budget, since }: PromptStatus, { now }: RowsOptions): string {
  const ms = Math.max(0, now - since);
  const sign = SIGNS[Math.floor(ms / SIGN_MS) % SIGNS.length]!;
  return [`${sign} ${Math.floor(ms / 1000)} s`, ...(budget === "" ? [] : [budget]), doing].join(" · ");
}

function typedRows({ editor, phase }: InputState, room: number): LiveRows {
  const { text, cursor, pastes, search } = editor;
  const prompt = phase === "approving" ? APPROVE : PROMPT;
  const start = search === null ? prompt : `(search: ${search.query}${search.at === null ? "; nothing" : ""}) `;
  const before = laidOut(start, shownText({ text: text.slice(0, cursor), pastes }), room);
  const all = laidOut(start, shownText({ text, pastes }), room);
  const last = before.at(-1)!;
  // A row that is full up to the cursor leaves it to the next one.
  if (columns(last) >= room) {
    const rows = before.length < all.length ? all : [...all, ""];
    return { rows, cursor: { row: before.length, column: 0 } };
  }
  return { rows: all, cursor: { row: before.length - 1, column: columns(last) } };
}

function laidOut(start: string, text: string, room: number): string[] {
  const [first = "", ...others] = text.split("\n").map(printable);
  return [`${start}${first}`, ...others.map((line) => `${MORE}${line}`)].flatMap((line) => rowsOf(line, room));
}
