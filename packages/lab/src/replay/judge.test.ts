import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import fc from "fast-check";
import { findUses, folded, isVisible, readable } from "./judge.ts";

const user = (content: string): OpenAiMessage => ({ role: "user", content });
const said = (content: string): OpenAiMessage => ({ role: "assistant", content });
const call = (name: string, input: object | string): OpenAiMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [
    {
      id: "1",
      type: "function",
      function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input) },
    },
  ],
});
const result = (content: string): OpenAiMessage => ({ role: "tool", tool_call_id: "1", content });

test("a use is a path, an identifier or a line of the model's message that somebody said before", () => {
  const source = "export function parseArgs(text: string): Args {\n\treturn split(text);\n}";
  const uses = findUses([
    user("Look at src/cli/options.ts."),
    result(source),
    said("I looked at src/cli/options.ts and newThing; parseArgs does it."),
    call("edit", { path: "src/cli/options.ts", oldText: "export function  parseArgs(text: string): Args {", x: 1 }),
  ]);
  assert.deepEqual(
    uses.map(({ at, kind, text, lastSeen }) => [at, kind, text, lastSeen]),
    [
      [2, "path", "src/cli/options.ts", 0],
      [2, "identifier", "parseArgs", 1],
      [3, "path", "src/cli/options.ts", 2],
      [3, "identifier", "parseArgs", 2],
      [3, "line", "export function parseArgs(text: string): Args {", 1],
      [3, "edit", "export function parseArgs(text: string): Args {", 1],
    ],
  );
});

test("words of prose, short lines and what nobody said before are no uses; neither is what others say", () => {
  const messages = [user("The word is plain."), said("The word is plain. }"), result("a_b_c_d"), user("a_b_c_d")];
  assert.deepEqual(findUses(messages), []);
  assert.deepEqual(findUses([said("brandNewName in src/new.ts")]), []);
});

test("what a stub says counts as read, unless stubs are skipped; the rest of an input stays readable", () => {
  const stub = result("[pruned: bash `ls`, old output; recall_read 4 has it]\nnames: parseArgs");
  const input = call("edit", { path: "a.ts", oldText: "[pruned: 12 lines] names: oldName", newText: "newName here" });
  assert.ok(readable(stub).includes("parseArgs"));
  assert.equal(readable(stub, "skip"), "");
  assert.equal(readable(input, "skip"), "a.ts newName here");
});

test("an input that is no JSON is read as it stands", () => {
  assert.equal(readable(call("bash", '{"command": "npm run  che')), '{"command": "npm run che');
});

test("every use stands in the message that uses it and in the one it was last seen in, and in none between", () => {
  const word = fc.constantFrom(
    "parseArgs",
    "src/a.ts",
    "plain words",
    "a line that is long enough to be asked for",
    "x",
  );
  const message = fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.array(word, { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (drawn) => {
      const messages = drawn.map(
        ({ role, content }): OpenAiMessage => ({ role, content: content.join("\n") }) as never,
      );
      const texts = messages.map((each) => readable(each));
      for (const { at, text, lastSeen } of findUses(messages)) {
        assert.equal(messages[at]!.role, "assistant");
        assert.ok(texts[at]!.includes(text) && texts[lastSeen]!.includes(text) && lastSeen < at);
        assert.ok(!isVisible(text, texts.slice(lastSeen + 1, at)));
        assert.equal(folded(text), text);
      }
    }),
  );
});

test("the judge shares no code with what it judges", () => {
  const source = readFileSync(new URL("judge.ts", import.meta.url), "utf8");
  const imports = source.split("\n").filter((line) => line.startsWith("import "));
  assert.deepEqual(imports, ['import type { OpenAiMessage } from "@palimpsest/core/internal/message";']);
});
