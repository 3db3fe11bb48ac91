import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Key } from "./keyboard.ts";
import { type EditorState, editLine, emptyEditor, shownText, taken, wholeText } from "./line-editor.ts";
import { meaningOf } from "./slash.ts";

const named = (name: string): Key => ({ kind: "named", name });
const typed = (text: string): Key => ({ kind: "text", text });
const pasted = (text: string): Key => ({ kind: "paste", text });

function after(keys: readonly (string | Key)[], history: readonly string[] = []): EditorState {
  return keys.reduce<EditorState>(
    (state, key) => editLine(state, typeof key === "string" ? named(key) : key),
    emptyEditor(history),
  );
}

/** The text with a bar where the cursor is. */
const look = ({ text, cursor }: EditorState): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test("each key moves or erases as in a shell", () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["left"], "one two.thre|e"],
    [["ctrl-b", "ctrl-f"], "one two.three|"],
    [["home"], "|one two.three"],
    [["ctrl-a", "right"], "o|ne two.three"],
    [["ctrl-a", "end"], "one two.three|"],
    [["alt-b"], "one two.|three"],
    [["ctrl-left", "alt-left"], "one |two.three"],
    [["ctrl-a", "alt-f"], "one| two.three"],
    [["ctrl-a", "ctrl-right", "alt-right"], "one two|.three"],
    [["backspace"], "one two.thre|"],
    [["ctrl-a", "delete"], "|ne two.three"],
    [["ctrl-w"], "one two.|"],
    [["alt-backspace", "alt-backspace"], "one |"],
    [["ctrl-a", "alt-d"], "| two.three"],
    [["ctrl-u"], "|"],
    [["ctrl-u", "ctrl-y"], "one two.three|"],
    [["alt-b", "ctrl-k"], "one two.|"],
    [["alt-b", "ctrl-k", "ctrl-_"], "one two.|three"],
    [["ctrl-w", "ctrl-w", "ctrl-_", "ctrl-_"], "one two.three|"],
    [["newline"], "one two.three\n|"],
    [["f5", "pageup", "insert"], "one two.three|"],
  ];
  for (const [keys, expected] of cases) assert.equal(look(after([typed("one two.three"), ...keys])), expected);
});

test("up and down go through the lines of the text first, then through what was said, and back to what was being typed", () => {
  const history = ["older", "two\nlines"];
  assert.equal(look(after([typed("draft"), "up"], history)), "two\nlines|");
  assert.equal(look(after([typed("draft"), "up", "up"], history)), "two|\nlines");
  assert.equal(look(after([typed("draft"), "up", "up", "up"], history)), "older|");
  assert.equal(look(after([typed("draft"), "up", "up", "up", "up"], history)), "older|");
  assert.equal(look(after([typed("draft"), "up", "down"], history)), "draft|");
  assert.equal(look(after(["down"], history)), "|");
});

test("Ctrl-R finds what was said by a piece of it, again further back; Escape gives up", () => {
  const history = ["the mill", "a mill of oak", "harbour"];
  assert.equal(after(["ctrl-r", typed("mill")], history).text, "a mill of oak");
  assert.equal(after(["ctrl-r", typed("mill"), "ctrl-r"], history).text, "the mill");
  assert.equal(look(after(["ctrl-r", typed("mill"), "home"], history)), "|a mill of oak");
  assert.equal(after([typed("draft"), "ctrl-r", typed("mill"), "escape"], history).text, "draft");
});

test("a long paste is one character that is shown as a few words and sent whole; a short one is text", () => {
  const long = Array.from({ length: 120 }, (_, line) => `line ${line}`).join("\n");
  const state = after([typed("see "), pasted(long.replaceAll("\n", "\r\n")), typed(" there")]);
  assert.equal(shownText(state), "see [pasted 120 lines] there");
  assert.equal(wholeText(state), `see ${long} there`);
  assert.equal(after([pasted(long), "backspace"]).text, "");
  assert.equal(after([pasted("a\nb")]).text, "a\nb");
  const again = editLine(taken(state), named("up"));
  assert.equal(wholeText(again), wholeText(state));
  assert.equal(shownText(after([pasted(`${long}\n`)])), "[pasted 120 lines]");
  assert.equal(shownText(after([pasted("x".repeat(2000))])), "[pasted 2000 characters]");
});

const NAMES =
  "left right home end up down backspace delete newline ctrl-w ctrl-u ctrl-k ctrl-y ctrl-_ ctrl-r alt-b alt-f alt-d escape";
const anyKey: fc.Arbitrary<Key> = fc.oneof(
  fc.constantFrom(...NAMES.split(" ")).map(named),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }).map(typed),
  fc.string({ unit: "grapheme", maxLength: 40 }).map(pasted),
  fc.constant(pasted("long\n".repeat(30))),
);

test("whatever keys come, the cursor is inside no character, and nothing but the keys' own text is in the line", () => {
  fc.assert(
    fc.property(fc.array(anyKey, { maxLength: 40 }), fc.array(fc.string(), { maxLength: 3 }), (keys, history) => {
      const state = after(keys, history);
      const { text, cursor } = state;
      assert.ok(cursor >= 0 && cursor <= text.length);
      assert.ok(!/^[\udc00-\udfff]/.test(text.slice(cursor)), "inside a character");
      assert.ok(!/[\u{100000}-\u{10fffd}]/u.test(wholeText(state)));
    }),
  );
});

test("a pasted command is text: only a typed one runs", () => {
  const { text } = editLine(emptyEditor([]), pasted("/export /tmp/a.md"));
  assert.equal(text, "//export /tmp/a.md");
  for (const paste of [
    "/export /tmp/a.md",
    "/help\nand more",
    "//export default",
    "  /help me",
    `  /help${"\nmore".repeat(20)}`,
  ]) {
    const said = meaningOf(wholeText(editLine(emptyEditor([]), pasted(paste))), null);
    assert.deepEqual(said, { kind: "say", text: paste.trimStart() });
  }
  assert.equal(editLine(emptyEditor([]), pasted("see /export")).text, "see /export");
  const typed = editLine(emptyEditor([]), { kind: "text", text: "/export " });
  assert.equal(editLine(typed, pasted("/tmp/a.md")).text, "/export /tmp/a.md");
});
