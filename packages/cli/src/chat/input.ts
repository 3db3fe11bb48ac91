/**
 * What each key does at each moment of a chat, as a pure function: the state and a key (or something that happened) give
 * the next state and what is to be done. The same keys mean the same whether an answer comes or not: Enter says it now or
 * queues it, Ctrl-C stops or clears and twice leaves, Ctrl-D leaves from an empty line.
 */
import type { Key } from "./keyboard.ts";
import {
  type EditorState,
  editLine,
  emptyEditor,
  shownText,
  taken,
  typedMentions,
  wholeText,
  withText,
} from "./line-editor.ts";

/** `approving`: only what is typed from now on answers it, so what is queued waits on. */
export type Phase = "idle" | "asking" | "approving" | "thinking" | "streaming" | "tool" | "compacting";

interface Said {
  readonly text: string;
  /** The same with long pastes as a few words. */
  readonly shown: string;
  /** Files that it mentions and that were not pasted. */
  readonly mentions: readonly string[];
}

export interface InputState {
  readonly phase: Phase;
  readonly editor: EditorState;
  /** Typed ahead: said one after the other as soon as they may be. */
  readonly queue: readonly Said[];
  readonly stopping: boolean;
  /** When Ctrl-C was pressed, if it was the last key. */
  readonly interruptedAt: number | null;
  /** Ctrl-X was pressed: the next key completes it. */
  readonly chord: boolean;
  readonly hint: string | null;
}

export type Effect =
  | { readonly kind: "say"; readonly said: Said }
  | { readonly kind: "stop" }
  | { readonly kind: "leave" }
  /** What is before the cursor could be completed. */
  | { readonly kind: "complete"; readonly before: string }
  | { readonly kind: "open-editor"; readonly text: string }
  | { readonly kind: "clear-screen" }
  /** To the shell, as Ctrl-Z does. */
  | { readonly kind: "suspend" };

export type Happening =
  | { readonly kind: "key"; readonly key: Key; readonly at: number }
  /** Work has come to this; `idle`, `asking` and `approving` wait for a line. */
  | { readonly kind: "phase"; readonly phase: Phase }
  /** This is in the line now: an editor wrote it, or a command offers it. */
  | { readonly kind: "fill"; readonly text: string }
  | { readonly kind: "completions"; readonly before: string; readonly options: readonly string[] };

export interface Step {
  readonly state: InputState;
  readonly effects: readonly Effect[];
}

export function startInput(history: readonly string[]): InputState {
  return {
    phase: "thinking",
    editor: emptyEditor(history),
    queue: [],
    stopping: false,
    interruptedAt: null,
    chord: false,
    hint: null,
  };
}

export function stepInput(state: InputState, happening: Happening): Step {
  switch (happening.kind) {
    case "phase":
      return entered(state, happening.phase);
    case "fill":
      return { state: { ...state, editor: withText(state.editor, happening.text) }, effects: [] };
    case "completions":
      return { state: completed(state, happening.before, happening.options), effects: [] };
    case "key":
      return pressed(state, happening.key, happening.at);
  }
}

export function isWaiting(phase: Phase): boolean {
  return phase === "idle" || phase === "asking" || phase === "approving";
}

/** How long a second Ctrl-C counts as one of two. */
export const TWICE_MS = 2000;

function entered(state: InputState, phase: Phase): Step {
  if (!isWaiting(phase)) return { state: { ...state, phase }, effects: [] };
  const [said, ...queue] = state.queue;
  const next = { ...state, phase, stopping: false, hint: state.stopping ? null : state.hint };
  if (said === undefined || phase === "approving") return { state: next, effects: [] };
  return { state: { ...next, phase: "thinking", queue }, effects: [{ kind: "say", said }] };
}

function pressed(state: InputState, key: Key, at: number): Step {
  const name = key.kind === "named" ? key.name : "";
  if (name === "ctrl-c") return interrupted(state, at);
  const next = { ...state, hint: null, interruptedAt: null, chord: false };
  if (state.chord) {
    if (name !== "ctrl-e") return { state: next, effects: [] };
    return { state: next, effects: [{ kind: "open-editor", text: wholeText(state.editor) }] };
  }
  const act = ACTS[name];
  return act === undefined ? { state: { ...next, editor: editLine(next.editor, key) }, effects: [] } : act(next);
}

const ACTS: Readonly<Record<string, (state: InputState) => Step>> = {
  enter: submitted,
  "ctrl-d": (state) =>
    state.editor.text === ""
      ? { state, effects: [{ kind: "leave" }] }
      : { state: { ...state, editor: editLine(state.editor, { kind: "named", name: "delete" }) }, effects: [] },
  tab: (state) => ({
    state,
    effects: [{ kind: "complete", before: state.editor.text.slice(0, state.editor.cursor) }],
  }),
  "ctrl-x": (state) => ({ state: { ...state, chord: true, hint: "Ctrl-X: Ctrl-E opens an editor" }, effects: [] }),
  "ctrl-l": (state) => ({ state, effects: [{ kind: "clear-screen" }] }),
  "ctrl-z": (state) => ({ state, effects: [{ kind: "suspend" }] }),
};

/** Once clears the line or stops what goes on; what was queued comes back into the line. Twice leaves. */
function interrupted(state: InputState, at: number): Step {
  const twice = state.stopping || (state.interruptedAt !== null && at - state.interruptedAt < TWICE_MS);
  if (twice) return { state, effects: [{ kind: "leave" }] };
  const armed = { ...state, interruptedAt: at, chord: false };
  if (isWaiting(state.phase))
    return { state: { ...armed, editor: withText(state.editor, ""), hint: "Ctrl-C again leaves" }, effects: [] };
  const unsaid = [...state.queue.map(({ text }) => text), wholeText(state.editor)].filter((text) => text !== "");
  const editor = state.queue.length === 0 ? state.editor : withText(state.editor, unsaid.join("\n"));
  return { state: { ...armed, editor, queue: [], stopping: true, hint: "stopping" }, effects: [{ kind: "stop" }] };
}

/** What a person who leaves has typed and not said: what was queued, or has come back into the line. */
export function unsaidLines({ queue, editor }: InputState): readonly string[] {
  return [...queue.map(({ text }) => text), ...wholeText(editor).split("\n")].filter((line) => line.trim() !== "");
}

function submitted(state: InputState): Step {
  const { editor } = state;
  const { text, cursor } = editor;
  if (text.endsWith("\\") && cursor === text.length)
    return { state: { ...state, editor: { ...editor, text: `${text.slice(0, -1)}\n` } }, effects: [] };
  const line = { text: wholeText(editor), shown: shownText(editor), mentions: typedMentions(editor) };
  if (line.text.trim() === "") return { state: { ...state, editor: withText(editor, "") }, effects: [] };
  const next = { ...state, editor: taken(editor) };
  if (!isWaiting(state.phase)) return { state: { ...next, queue: [...state.queue, line] }, effects: [] };
  return { state: { ...next, phase: "thinking" }, effects: [{ kind: "say", said: line }] };
}

/** One option is taken, several give what they share and are shown. Nothing if the line has changed meanwhile. */
function completed(state: InputState, before: string, options: readonly string[]): InputState {
  const { text, cursor } = state.editor;
  if (text.slice(0, cursor) !== before || options.length === 0) return state;
  const shared = options.reduce((common, one) => {
    let size = 0;
    while (size < common.length && common[size] === one[size]) size += 1;
    return common.slice(0, size);
  });
  const added = shared.slice(before.length);
  const editor = editLine(state.editor, { kind: "text", text: added });
  const word = before.length - before.split(/\s/).at(-1)!.length;
  const names = options.map((one) => one.slice(word).trim());
  return { ...state, editor, hint: options.length === 1 ? null : names.join("  ") };
}

/** What goes on in a chat while a person waits. */
export interface Activity {
  readonly phase: Phase;
  /** `thinking`, a tool and what it was given. */
  readonly doing: string;
  /** How full the window is; empty while unknown. */
  readonly budget: string;
}
