import { graphemes } from "../terminal/output.ts";
import type { Key } from "./keyboard.ts";

export interface EditorState {
  readonly text: string;
  /** An offset into the text, never inside what a person sees as one character. */
  readonly cursor: number;
  /** What the characters that stand for pastes stand for, in order. */
  readonly pastes: readonly string[];
  /** Files that pasted text mentions, of this line and of earlier ones. They were not typed. */
  readonly pastedMentions: readonly string[];
  /** What was erased last by a key that erases more than one character. */
  readonly killed: string;
  readonly undo: readonly Line[];
  /** Oldest first. */
  readonly history: readonly string[];
  /** Which of them is shown; null: none, it is being typed. */
  readonly shown: number | null;
  /** What was typed before going into the history. */
  readonly draft: string;
  readonly search: Search | null;
}

interface Line {
  readonly text: string;
  readonly cursor: number;
}

interface Search {
  readonly query: string;
  /** Where in the history it was found; null when it wasn't. */
  readonly at: number | null;
}

export function emptyEditor(history: readonly string[]): EditorState {
  return {
    text: "",
    cursor: 0,
    pastes: [],
    pastedMentions: [],
    killed: "",
    undo: [],
    history,
    shown: null,
    draft: "",
    search: null,
  };
}

/** Keys that mean nothing to it leave it as it is. */
export function editLine(state: EditorState, key: Key): EditorState {
  if (state.search !== null) return searching(state, state.search, key);
  const next = applied(state, key);
  if (next.text === state.text) return next;
  const { text, cursor } = state;
  const undone = key.kind === "named" && key.name === "ctrl-_";
  return undone ? next : { ...next, undo: [...state.undo.slice(-UNDO_STEPS), { text, cursor }] };
}

/** What is sent: with the pastes in it. */
export function wholeText({ text, pastes }: Pick<EditorState, "text" | "pastes">): string {
  return text.replaceAll(STANDING_IN, (one) => pastes[one.codePointAt(0)! - FIRST] ?? one);
}

/** Files that were mentioned by typing. Pasted text may come from others, who must not choose what is read from the disk. */
export function typedMentions({ text, pastedMentions }: EditorState): readonly string[] {
  return mentionedPaths(text.replaceAll(STANDING_IN, " ")).filter((path) => !pastedMentions.includes(path));
}

/** What is shown: a paste is a few words. */
export function shownText({ text, pastes }: Pick<EditorState, "text" | "pastes">): string {
  return text.replaceAll(STANDING_IN, (one) => label(pastes[one.codePointAt(0)! - FIRST] ?? ""));
}

/** With this text in the line, pastes folded as if it had been pasted. */
export function withText(state: EditorState, text: string): EditorState {
  const { folded, pastes } = fold(text, state.pastes);
  return { ...state, text: folded, pastes, cursor: folded.length, shown: null, search: null };
}

/** With an empty line, and what was in it at the end of the history. */
export function taken(state: EditorState): EditorState {
  const text = wholeText(state);
  const history = text.trim() === "" ? state.history : [...state.history.filter((one) => one !== text), text];
  const killed = wholeText({ ...state, text: state.killed });
  return { ...emptyEditor(history.slice(-KEPT)), killed, pastedMentions: state.pastedMentions.slice(-KEPT) };
}

export const KEPT = 500;
const UNDO_STEPS = 100;

/** Private-use characters, which no keyboard sends. */
const FIRST = 0x10_0000;
const STANDING_IN = /[\u{100000}-\u{10fffd}]/gu;
const LONG_LINES = 8;
const LONG_TEXT = 1000;

function fold(text: string, pastes: readonly string[]): { folded: string; pastes: readonly string[] } {
  const clean = text.replaceAll(/\r\n?/g, "\n").replaceAll("\t", "  ").replaceAll(STANDING_IN, "\ufffd");
  if (clean.split("\n").length <= LONG_LINES && clean.length <= LONG_TEXT) return { folded: clean, pastes };
  return { folded: String.fromCodePoint(FIRST + pastes.length), pastes: [...pastes, clean] };
}

function label(paste: string): string {
  const lines = paste.replace(/\n$/, "").split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${paste.length} characters]`;
}

function applied(state: EditorState, key: Key): EditorState {
  if (key.kind === "text") return inserted(state, key.text.replaceAll(STANDING_IN, "\ufffd"));
  if (key.kind === "paste") {
    const pastedMentions = [...state.pastedMentions, ...mentionedPaths(key.text)];
    // Pasted text at the beginning of a line is text and no command: saying it takes the added slash away.
    const isCommand = state.text.slice(0, state.cursor).trim() === "" && /^\s*\/+[a-z]+(?:\s|$)/.test(key.text);
    const { folded, pastes } = fold(isCommand ? key.text.trimStart() : key.text, state.pastes);
    return inserted({ ...state, pastes, pastedMentions }, isCommand ? `/${folded}` : folded);
  }
  return BINDINGS[key.name]?.(state) ?? state;
}

function inserted(state: EditorState, added: string): EditorState {
  const { text, cursor } = state;
  return { ...state, text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

type EditAct = (state: EditorState) => EditorState;

const to =
  (find: (state: Line) => number): EditAct =>
  (state) => ({ ...state, cursor: find(state) });

/** Erases between the cursor and there; what goes can be put back with Ctrl-Y, unless it is a single character. */
const erase =
  (find: (state: Line) => number, kept: "killed" | "gone"): EditAct =>
  (state) => {
    const [start, end] = [state.cursor, find(state)].toSorted((a, b) => a - b) as [number, number];
    if (start === end) return state;
    const killed = kept === "killed" ? state.text.slice(start, end) : state.killed;
    return { ...state, text: state.text.slice(0, start) + state.text.slice(end), cursor: start, killed };
  };

const before = ({ text, cursor }: Line): number => cursor - (graphemes(text.slice(0, cursor)).at(-1)?.length ?? 0);
const after = ({ text, cursor }: Line): number => cursor + (graphemes(text.slice(cursor))[0]?.length ?? 0);
const lineStart = ({ text, cursor }: Line): number => text.lastIndexOf("\n", cursor - 1) + 1;
const lineEnd = ({ text, cursor }: Line): number => {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
};
const wordStart = ({ text, cursor }: Line): number =>
  /[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor))!.index;
const wordEnd = ({ text, cursor }: Line): number =>
  cursor + /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))![0].length;

/** The same place in the line above or below; null where there is none. */
function vertical({ text, cursor }: Line, by: -1 | 1): number | null {
  const start = lineStart({ text, cursor });
  const edge = by === -1 ? start - 1 : lineEnd({ text, cursor }) + 1;
  if (edge < 0 || edge > text.length) return null;
  const from = lineStart({ text, cursor: edge });
  const there = graphemes(text.slice(from, lineEnd({ text, cursor: from })));
  return from + there.slice(0, graphemes(text.slice(start, cursor)).length).join("").length;
}

const up: EditAct = (state) => {
  const cursor = vertical(state, -1);
  return cursor === null ? older(state) : { ...state, cursor };
};
const down: EditAct = (state) => {
  const cursor = vertical(state, 1);
  return cursor === null ? newer(state) : { ...state, cursor };
};

function older(state: EditorState): EditorState {
  const at = (state.shown ?? state.history.length) - 1;
  if (at < 0) return state;
  const draft = state.shown === null ? wholeText(state) : state.draft;
  return { ...withText(state, state.history[at]!), shown: at, draft };
}

function newer(state: EditorState): EditorState {
  if (state.shown === null) return state;
  const at = state.shown + 1;
  if (at >= state.history.length) return withText(state, state.draft);
  return { ...withText(state, state.history[at]!), shown: at };
}

const BINDINGS: Readonly<Record<string, EditAct>> = {
  left: to(before),
  "ctrl-b": to(before),
  right: to(after),
  "ctrl-f": to(after),
  "ctrl-left": to(wordStart),
  "alt-left": to(wordStart),
  "alt-b": to(wordStart),
  "ctrl-right": to(wordEnd),
  "alt-right": to(wordEnd),
  "alt-f": to(wordEnd),
  home: to(lineStart),
  "ctrl-a": to(lineStart),
  end: to(lineEnd),
  "ctrl-e": to(lineEnd),
  up,
  "ctrl-p": up,
  down,
  "ctrl-n": down,
  backspace: erase(before, "gone"),
  "ctrl-h": erase(before, "gone"),
  delete: erase(after, "gone"),
  "ctrl-w": erase(wordStart, "killed"),
  "alt-backspace": erase(wordStart, "killed"),
  "alt-d": erase(wordEnd, "killed"),
  "ctrl-u": erase(lineStart, "killed"),
  "ctrl-k": erase(lineEnd, "killed"),
  "ctrl-y": (state) => inserted(state, state.killed),
  "ctrl-_": (state) => {
    const last = state.undo.at(-1);
    return last === undefined ? state : { ...state, ...last, undo: state.undo.slice(0, -1) };
  },
  "ctrl-r": (state) => ({ ...state, search: { query: "", at: null }, draft: wholeText(state) }),
  newline: (state) => inserted(state, "\n"),
};

/** Letters narrow the search, Ctrl-R goes further back; Escape gives up, any other key takes what was found and acts on it. */
function searching(state: EditorState, { query, at }: Search, key: Key): EditorState {
  const name = key.kind === "named" ? key.name : null;
  if (key.kind === "text") return found(state, query + key.text, state.history.length);
  if (name === "ctrl-r") return found(state, query, at ?? state.history.length);
  if (name === "backspace") return found(state, graphemes(query).slice(0, -1).join(""), state.history.length);
  if (name === "escape" || name === "ctrl-g" || name === "ctrl-c") return withText(state, state.draft);
  return editLine({ ...state, search: null }, key);
}

/** The newest that has it, before that place. */
function found(state: EditorState, query: string, end: number): EditorState {
  const at = query === "" ? -1 : state.history.findLastIndex((one, index) => index < end && one.includes(query));
  if (at === -1) return { ...state, search: { query, at: state.search?.at ?? null } };
  return { ...withText(state, state.history[at]!), search: { query, at } };
}

/* Files that a message mentions: `@PATH`, or `@"PATH"` with blanks. Pure; whether there is such a file is another's question. */

export function mentionedPaths(text: string): readonly string[] {
  return [...text.matchAll(MENTION)].map(([, quoted, plain]) => quoted ?? plain!);
}

const MENTION = /(?<!\S)@(?:"([^"\n]+)"|(\S+))/g;
