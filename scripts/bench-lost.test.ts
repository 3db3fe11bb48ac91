// The judge of what a prompt still says of hidden messages: the same for all, and with no code of a pruner or summary.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { toldIn } from "../bench/playback/lost.ts";

const ask: OpenAiMessage = { role: "user", content: "Please cancel reservation ZX81Q2. I will not travel this year." };
const call: OpenAiMessage = {
  role: "assistant",
  content: null,
  tool_calls: [cancelled('{"id": "ZX81Q2"}')],
};
const thanks: OpenAiMessage = { role: "user", content: "Thank you so much for your help" };
const last: OpenAiMessage = { role: "assistant", content: "Anything else?" };
const said = [ask, call, thanks, last];
const summary = (content: string): OpenAiMessage => ({ role: "user", content });

test("messages that the prompt holds as they were said are not hidden, however a call's arguments are spaced", () => {
  const again = { ...call, tool_calls: [cancelled('{ "id":"ZX81Q2" }')] };
  assert.deepEqual(toldIn([ask, again, thanks, last], said), { hidden: 0, lost: 0 });
});

test("a name or the beginning of a sentence is enough; an error in a summary's place says nothing", () => {
  assert.deepEqual(toldIn([summary("Error: no summary."), last], said), { hidden: 3, lost: 3 });
  assert.deepEqual(toldIn([summary("ZX81Q2 was cancelled."), last], said), { hidden: 3, lost: 1 });
  assert.deepEqual(toldIn([summary("I will not travel this year, said the user"), last], said), { hidden: 3, lost: 2 });
});

test("what was said after the newest message of the prompt doesn't count", () => {
  assert.deepEqual(toldIn([ask], said), { hidden: 0, lost: 0 });
});

function cancelled(input: string) {
  return { id: "1", type: "function" as const, function: { name: "cancel", arguments: input } };
}
