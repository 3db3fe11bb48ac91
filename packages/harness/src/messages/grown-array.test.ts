import assert from "node:assert/strict";
import { test } from "node:test";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { compactMessages } from "./compact-messages.ts";
import { grownArrays, markOf, marksOf, readAhead } from "./state.ts";

const said = (text: string): OpenAiMessage => ({ role: "user", content: text });
const SYSTEM: OpenAiMessage = { role: "system", content: "Be brief." };

test("an array that grew, was cut or edited has the marks it would have if it had never been seen", () => {
  const all = Array.from({ length: 300 }, (_, index) => said(`message ${index}`));
  const edited = [...all.slice(0, 50), said("edited"), ...all.slice(51)];
  const lists = [all.slice(0, 10), all.slice(0, 11), all, all.slice(0, 100), edited, [SYSTEM, ...all], all, []];
  for (const list of lists) {
    const marks = marksOf(list, openaiShape);
    for (const count of [0, 1, 10, 51, list.length]) {
      const expected = count > list.length ? null : markOf(structuredClone(list.slice(0, count)), openaiShape);
      assert.deepEqual(marks.to(count), expected, `${count} of ${list.length}`);
    }
  }
});

test("marks that are still read stand when the same array comes back shorter meanwhile", () => {
  const all = Array.from({ length: 20 }, (_, index) => said(`message ${index}`));
  const marks = marksOf(all, openaiShape);
  const whole = marks.to(20);
  marksOf([...all.slice(0, 5), said("another")], openaiShape);
  marksOf([...all.slice(0, 19), said("another")], openaiShape);
  assert.deepEqual(marks.to(20), whole);
});

test("conversations that share their first message are told apart", () => {
  const known = grownArrays<string>();
  const [one, other] = [
    [SYSTEM, said("a"), said("b")],
    [SYSTEM, said("c"), said("d")],
  ];
  known(one).keep("one");
  known(other).keep("other");
  const grown = known([...one, said("e")]);
  assert.deepEqual([grown.value, grown.same], ["one", 3]);
  assert.equal(known([SYSTEM]).value, undefined);
});

test("a dialect that shows only in what is new is found, and so is a message that none has", async () => {
  const plain = Array.from({ length: 6 }, (_, index) => said(`question ${index}`));
  const options = { window: 4000 };
  await compactMessages(plain, options);
  const call = { type: "tool_use", id: "c1", name: "look", input: {} };
  const result = { type: "tool_result", tool_use_id: "c1", content: "seen" };
  const grown = [...plain, { role: "assistant", content: [call] }, { role: "user", content: [result] }];
  const { messages } = await compactMessages<object>(grown, options);
  assert.ok(JSON.stringify(messages).includes('"tool_use_id":"c1"'));
  assert.ok(!JSON.stringify(messages).includes('"role":"tool"'));
  const ui = { id: "1", role: "user", parts: [{ type: "text", text: "hi" }] };
  await assert.rejects(compactMessages<object>([...grown, ui], options), /message 9 looks like an AI SDK UI message/);
});

test("messages are read ahead in steps, also one of megabytes, and their marks stay the same", () => {
  const list = [said("short"), said("long ".repeat(2_000_000)), said("and more")];
  const before = markOf(structuredClone(list), openaiShape);
  assert.ok([...readAhead(list, openaiShape)].length >= 10);
  assert.deepEqual([...readAhead(list, openaiShape)], []);
  assert.deepEqual(marksOf(list, openaiShape).to(list.length), before);
});
