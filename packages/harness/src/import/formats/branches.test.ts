// Trees with many late branches: what reading them costs, counted in messages that are looked at and made.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type saidAfter, waysOf } from "./branches.ts";
import { chatgpt } from "./chatgpt.ts";
import { claudeAi } from "./claude-ai.ts";
import { type Format, madeMessage } from "./format.ts";

const CHAIN = 300;
const BRANCHES = 100;

/** A chain and branches of one message each that leave it before its last, by the node they follow. */
const tree = [
  ...Array.from({ length: CHAIN }, (_, index) => ({ id: `n${index}`, parent: index === 0 ? null : `n${index - 1}` })),
  ...Array.from({ length: BRANCHES }, (_, index) => ({ id: `f${index}`, parent: `n${CHAIN - 2}` })),
];

/** Its pieces, and how often a message's content was looked at. */
function readTree(format: Format, makeValue: (content: (id: string) => object) => object) {
  let looks = 0;
  const content = (id: string) => ({
    get content() {
      looks += 1;
      return format.id === "chatgpt" ? { content_type: "text", parts: [id] } : [{ type: "text", text: id }];
    },
  });
  const pieces = [...format.open().read({ value: { ...makeValue(content) }, text: "", place: "" })];
  const said = pieces.filter(({ kind }) => kind === "message").length;
  const forks = pieces.flatMap((piece) => (piece.kind === "thread" && piece.fork ? [piece.fork.after] : []));
  return { looks, said, forks };
}

const whole = { looks: tree.length, said: tree.length, forks: Array.from({ length: BRANCHES }, () => CHAIN - 1) };

test("each message of a ChatGPT tree is read once, however many branches lead over it", () => {
  const read = readTree(chatgpt, (content) => {
    const nodes = tree.map(({ id, parent }) => {
      const children = tree.filter((one) => one.parent === id).map((one) => one.id);
      const message = Object.defineProperties(
        { author: { role: "user" } },
        Object.getOwnPropertyDescriptors(content(id)),
      );
      return [id, { id, parent, children, message }];
    });
    return { mapping: Object.fromEntries(nodes), current_node: `n${CHAIN - 1}` };
  });
  assert.deepEqual(read, whole);
});

test("each message of a Claude.ai tree is read once, however many branches lead over it", () => {
  const [last] = tree.splice(CHAIN - 1, 1);
  tree.push(last!);
  const read = readTree(claudeAi, (content) => ({
    chat_messages: tree.map(({ id, parent }) =>
      Object.defineProperties(
        { uuid: id, sender: "human", parent_message_uuid: parent ?? "" },
        Object.getOwnPropertyDescriptors(content(id)),
      ),
    ),
  }));
  assert.deepEqual(read, whole);
});

test("ways that share a trunk make each of its messages once", () => {
  let made = 0;
  const says = (body: string) => madeMessage({ body }, { place: "" });
  const counted = (before: ReturnType<typeof saidAfter>, body: string) => ({
    before,
    message() {
      made += 1;
      return says(body);
    },
  });
  let trunk: ReturnType<typeof saidAfter> = null;
  for (let index = 0; index < CHAIN; index += 1) trunk = counted(trunk, `m${index}`);
  const ends = Array.from({ length: BRANCHES }, (_, index) => counted(trunk, `end ${index}`));
  const { messages, branches } = waysOf(trunk, ends);
  const forks = [...branches].length;
  assert.deepEqual([made, messages.length, forks], [CHAIN + BRANCHES, CHAIN, BRANCHES]);
});

test("a tool's result from which ways part is not copied into each of them", () => {
  const node = (id: string, parent: string | null, role: string, more: object = {}) => [
    id,
    {
      id,
      parent,
      children: [],
      message: { author: { role }, content: { content_type: "text", parts: [id] }, ...more },
    },
  ];
  const mapping = Object.fromEntries([
    node("call", null, "assistant", { recipient: "python" }),
    node("first", "call", "tool"),
    node("second", "first", "tool"),
    node("one", "second", "tool"),
    node("other", "second", "tool"),
  ]);
  const pieces = [...chatgpt.open().read({ value: { mapping, current_node: "one" }, text: "", place: "" })];
  const said = pieces.flatMap((piece) => (piece.kind === "message" ? [piece.message.value["content"]] : []));
  assert.deepEqual(said, [null, "first\n\nsecond", "one", "other"]);
});
