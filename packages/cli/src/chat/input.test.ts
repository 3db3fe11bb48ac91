// Every key at every moment of a chat.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { columns } from "../terminal/output.ts";
import {
  type Effect,
  type InputState,
  isWaiting,
  type Phase,
  startInput,
  stepInput,
  TWICE_MS,
  unsaidLines,
} from "./input.ts";
import { earlyKey, type Key, keyReader } from "./keyboard.ts";
import { wholeText } from "./line-editor.ts";
import { type PromptStatus, promptRows } from "./prompt-rows.ts";

const PHASES: readonly Phase[] = ["idle", "asking", "approving", "thinking", "streaming", "tool", "compacting"];
const WAITING = PHASES.filter(isWaiting);
const BUSY = PHASES.filter((phase) => !isWaiting(phase));

interface Run {
  readonly state: InputState;
  readonly effects: readonly Effect[];
}

/** Keys at a moment: a text is typed, a name in angle brackets is a key. */
function press(phase: Phase, keys: readonly string[], every = 100): Run {
  let state = stepInput(startInput(["said before"]), { kind: "phase", phase }).state;
  const effects: Effect[] = [];
  for (const [index, text] of keys.entries()) {
    const step = stepInput(state, { kind: "key", key: keyOf(text), at: index * every });
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

function keyOf(text: string): Key {
  const name = /^<(.+)>$/.exec(text)?.[1];
  return name === undefined ? { kind: "text", text } : { kind: "named", name };
}

const typed = (text: string): Key => ({ kind: "text", text });
const pasted = (text: string): Key => ({ kind: "paste", text });
const kinds = ({ effects }: Run): string[] => effects.map(({ kind }) => kind);
const lineOf = ({ state }: Run): string => wholeText(state.editor);

test("Enter says the line where a person is waited for, and queues it where they aren't", () => {
  for (const phase of WAITING) {
    const run = press(phase, ["hello", "<enter>"]);
    assert.deepEqual(run.effects, [{ kind: "say", said: { text: "hello", shown: "hello", mentions: [] } }], phase);
    assert.equal(lineOf(run), "");
    assert.ok(!isWaiting(run.state.phase));
  }
  for (const phase of BUSY) {
    const run = press(phase, ["one", "<enter>", "two", "<enter>", "thr"]);
    assert.deepEqual(kinds(run), [], phase);
    assert.deepEqual(
      run.state.queue.map(({ text }) => text),
      ["one", "two"],
    );
    assert.equal(lineOf(run), "thr");
  }
});

test("a file is mentioned by typing it, never by pasting text that has its name", () => {
  const long = `${"x\n".repeat(20)}@/etc/passwd\n`;
  const cases: readonly [readonly Key[], readonly string[]][] = [
    [[typed("read @a.txt and @b.txt")], ["a.txt", "b.txt"]],
    [[pasted("Dear reader, see @a.txt")], []],
    [[typed("read @a.txt "), pasted("see @b.txt")], ["a.txt"]],
    [[typed("read "), pasted(long), typed(" @a.txt")], ["a.txt"]],
    [[typed("read @"), pasted("a.txt")], ["a.txt"]],
    [[pasted("see @a.txt"), { kind: "named", name: "ctrl-w" }, { kind: "named", name: "ctrl-y" }], []],
  ];
  for (const [keys, mentions] of cases) {
    let state = stepInput(startInput([]), { kind: "phase", phase: "idle" }).state;
    const effects: Effect[] = [];
    for (const key of [...keys, { kind: "named", name: "enter" } as const]) {
      const step = stepInput(state, { kind: "key", key, at: 0 });
      state = step.state;
      effects.push(...step.effects);
    }
    assert.deepEqual(
      effects.map((effect) => effect.kind === "say" && effect.said.mentions),
      [mentions],
    );
    const again = stepInput(stepInput(state, { kind: "phase", phase: "idle" }).state, {
      kind: "key",
      key: { kind: "named", name: "up" },
      at: 0,
    });
    const [said] = stepInput(again.state, { kind: "key", key: { kind: "named", name: "enter" }, at: 0 }).effects;
    assert.ok(said?.kind === "say");
    for (const path of said.said.mentions) assert.ok(mentions.includes(path), `${path} when it is said again`);
  }
});

test("what was queued is said one after the other, as soon as a person would be waited for", () => {
  for (const phase of BUSY) {
    const { state } = press(phase, ["one", "<enter>", "two", "<enter>"]);
    const first = stepInput(state, { kind: "phase", phase: "idle" });
    const second = stepInput(first.state, { kind: "phase", phase: "idle" });
    const third = stepInput(second.state, { kind: "phase", phase: "idle" });
    const said = [first, second, third].flatMap(({ effects }) => effects);
    assert.deepEqual(
      said.map((effect) => effect.kind === "say" && effect.said.text),
      ["one", "two"],
    );
    assert.equal(third.state.phase, "idle");
  }
});

test("an empty line is nothing to say, and a backslash at the end goes on in the next line", () => {
  for (const phase of PHASES) {
    assert.deepEqual(kinds(press(phase, ["<enter>", "  ", "<enter>"])), [], phase);
    assert.equal(lineOf(press(phase, ["one\\", "<enter>", "two"])), "one\ntwo", phase);
  }
});

test("Ctrl-C clears the line where a person is waited for, stops what goes on elsewhere, and twice leaves", () => {
  for (const phase of WAITING) {
    const run = press(phase, ["abc", "<ctrl-c>"]);
    assert.deepEqual([kinds(run), lineOf(run), run.state.hint], [[], "", "Ctrl-C again leaves"], phase);
    assert.deepEqual(kinds(press(phase, ["abc", "<ctrl-c>", "xyz", "<ctrl-c>"])), [], phase);
    assert.deepEqual(kinds(press(phase, ["<ctrl-c>", "<ctrl-c>"], TWICE_MS + 1)), [], phase);
  }
  for (const phase of BUSY) {
    const run = press(phase, ["typed", "<ctrl-c>"]);
    assert.deepEqual([kinds(run), lineOf(run)], [["stop"], "typed"], phase);
    assert.deepEqual(kinds(press(phase, ["<ctrl-c>", "<ctrl-c>"], TWICE_MS + 1)), ["stop", "leave"], phase);
    assert.equal(lineOf(press(phase, ["queued", "<enter>", "typed", "<ctrl-c>"])), "queued\ntyped", phase);
  }
  for (const phase of PHASES) assert.equal(kinds(press(phase, ["x", "<ctrl-c>", "<ctrl-c>"])).at(-1), "leave", phase);
});

test("Ctrl-D leaves from an empty line at any moment, and erases in one that isn't", () => {
  for (const phase of PHASES) {
    assert.deepEqual(kinds(press(phase, ["<ctrl-d>"])), ["leave"], phase);
    const run = press(phase, ["ab", "<home>", "<ctrl-d>"]);
    assert.deepEqual([kinds(run), lineOf(run)], [[], "b"], phase);
  }
});

test("the other keys do the same at every moment", () => {
  for (const phase of PHASES) {
    assert.deepEqual(press(phase, ["text", "<ctrl-x>", "<ctrl-e>"]).effects, [{ kind: "open-editor", text: "text" }]);
    assert.deepEqual(kinds(press(phase, ["<ctrl-x>", "a"])), []);
    assert.deepEqual(kinds(press(phase, ["<ctrl-l>", "<ctrl-z>"])), ["clear-screen", "suspend"]);
    assert.deepEqual(press(phase, ["/un", "<tab>"]).effects, [{ kind: "complete", before: "/un" }]);
    assert.equal(lineOf(press(phase, ["<up>"])), "said before");
  }
});

test("completion takes one option, or what several share, and nothing when the line has changed", () => {
  const { state } = press("idle", ["/un"]);
  const complete = (before: string, options: readonly string[]) =>
    stepInput(state, { kind: "completions", before, options }).state;
  assert.equal(complete("/un", ["/undo"]).editor.text, "/undo");
  const several = complete("/un", ["/undo", "/undone"]);
  assert.deepEqual([several.editor.text, several.hint], ["/undo", "/undo  /undone"]);
  assert.equal(complete("/u", ["/undo"]).editor.text, "/un");
  assert.equal(complete("/un", []).editor.text, "/un");
});

const KEYS =
  "enter tab escape left up down home backspace delete newline ctrl-c ctrl-d ctrl-e ctrl-k ctrl-l ctrl-r ctrl-u ctrl-w ctrl-x ctrl-y ctrl-z ctrl-_ alt-b";
const happening = fc.oneof(
  fc.constantFrom(...KEYS.split(" ").map((name) => `<${name}>`), "a", "long words ", "\\", "日本", "👩‍🚀"),
  fc.constantFrom(...PHASES).map((phase) => ({ phase })),
);

test("whatever happens in whatever order: Ctrl-C twice leaves, Ctrl-C and Ctrl-D leave, and the rows fit the terminal", () => {
  const status: PromptStatus = { phase: "thinking", doing: "thinking", budget: "context 61 % · 39k of 64k", since: 0 };
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), fc.integer({ min: 12, max: 90 }), (happenings, width) => {
      let state = startInput(["one", "two\nlines"]);
      for (const [index, one] of happenings.entries())
        state = stepInput(
          state,
          typeof one === "string" ? { kind: "key", key: keyOf(one), at: index } : { kind: "phase", phase: one.phase },
        ).state;
      const { rows, cursor } = promptRows(state, status, { width, height: 10, now: 5000, color: false });
      assert.ok(rows.every((row) => columns(row) <= width) && cursor.row < rows.length && cursor.column < width);
      const now = happenings.length;
      const press = (from: InputState, name: string, at: number) =>
        stepInput(from, { kind: "key", key: { kind: "named", name }, at });
      const once = press(state, "ctrl-c", now);
      const twice = press(once.state, "ctrl-c", now + 1);
      assert.ok([...once.effects, ...twice.effects].some(({ kind }) => kind === "leave"));
      if (isWaiting(state.phase) && once.effects.length === 0)
        assert.ok(press(once.state, "ctrl-d", now + 1).effects.some(({ kind }) => kind === "leave"));
    }),
    { numRuns: 300 },
  );
});

test("what was queued before a call needs an answer waits on: only what is typed then answers it", () => {
  const { state } = press("tool", ["yes", "<enter>"]);
  const asked = stepInput(state, { kind: "phase", phase: "approving" });
  assert.deepEqual([asked.effects, asked.state.queue.length, asked.state.phase], [[], 1, "approving"]);
  const answered = ["n", "<enter>"].reduce((step, text) => {
    const next = stepInput(step.state, { kind: "key", key: keyOf(text), at: 0 });
    return { state: next.state, effects: [...step.effects, ...next.effects] };
  }, asked);
  assert.deepEqual(answered.effects, [{ kind: "say", said: { text: "n", shown: "n", mentions: [] } }]);
  const idle = stepInput(answered.state, { kind: "phase", phase: "idle" });
  assert.deepEqual(idle.effects, [{ kind: "say", said: { text: "yes", shown: "yes", mentions: [] } }]);
});

test("Enter pressed before the terminal was ours says the line, as Enter does later; Ctrl-J breaks it from then on", () => {
  const newline = keyReader()({ sequence: "\n", name: "enter" })!;
  assert.deepEqual(newline, { kind: "named", name: "newline" });
  assert.deepEqual(earlyKey(newline), { kind: "named", name: "enter" });
  assert.deepEqual(earlyKey({ kind: "text", text: "a" }), { kind: "text", text: "a" });
});

test("a person who leaves with Ctrl-C twice is told each line that was queued or half typed", () => {
  const run = press("streaming", ["one", "<enter>", "two", "<enter>", "half", "<ctrl-c>", "<ctrl-c>"]);
  assert.deepEqual(kinds(run), ["stop", "leave"]);
  assert.deepEqual(unsaidLines(run.state), ["one", "two", "half"]);
});

test("once an answer has stopped, nothing says that it is being stopped", () => {
  const { state } = press("streaming", ["<ctrl-c>"]);
  assert.equal(state.hint, "stopping");
  assert.equal(stepInput(state, { kind: "phase", phase: "idle" }).state.hint, null);
});
