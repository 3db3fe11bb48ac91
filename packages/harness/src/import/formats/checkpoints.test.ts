import assert from "node:assert/strict";
import { test } from "node:test";
import { openSqlite } from "../../stores/index.ts";
import { replay } from "../../thread/audit.ts";
import { threadDeps } from "../../thread/writer.ts";
import { importFile } from "../import-file.ts";
import { readConversations } from "../read-conversations.ts";

/** `q1 a1!edited`: messages by their ids, with other words where it says so. */
const messages = (said: string): readonly object[] =>
  said
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => {
      const [id = "", content = id] = word.split("!");
      return { type: id.startsWith("q") ? "human" : "ai", data: { id, content } };
    });

const snapshot = (id: string, parent: string | null, said: string, thread = "t") => ({
  values: { messages: messages(said) },
  next: [],
  config: { configurable: { thread_id: thread, checkpoint_ns: "", checkpoint_id: id } },
  ...(parent !== null && { parentConfig: { configurable: { thread_id: thread, checkpoint_id: parent } } }),
});

const tuple = (id: string, said: string, thread = "t") => ({
  config: { configurable: { thread_id: thread } },
  checkpoint: { v: 4, id, ts: "2026-01-01T00:00:00Z", channel_values: { messages: messages(said), __start__: {} } },
});

const row = (id: string, parent: string | null, said: string) => ({
  thread_id: "t",
  checkpoint_id: id,
  parent_checkpoint_id: parent,
  channel_values: { messages: messages(said) },
});

const served = (id: string, said: string) => ({
  values: { messages: messages(said) },
  checkpoint: { thread_id: "t", checkpoint_id: id, checkpoint_ns: "" },
});

const bare = (id: string, said: string) => ({ v: 4, id, channel_values: { messages: messages(said) } });

const uuid = (count: number): string => `1f0aaaaa-0000-6000-8000-00000000000${count}`;

const wordsOf = ({ value }: { readonly value: Readonly<Record<string, unknown>> }): unknown =>
  (value["data"] as { content: unknown }).content;

const TABLE: readonly [string, readonly object[], readonly string[]][] = [
  ["one checkpoint is its thread", [snapshot("1", null, "q1 a1")], ["q1 a1"]],
  [
    "checkpoints that repeat what came before are one thread",
    [snapshot("3", "2", "q1 a1 q2"), snapshot("2", "1", "q1 a1"), snapshot("1", "0", "q1"), snapshot("0", null, "")],
    ["q1 a1 q2"],
  ],
  [
    "a checkpoint that leaves another than the last is a fork",
    [snapshot("4", "2", "q1 a1 q3"), snapshot("3", "2", "q1 a1 q2"), snapshot("2", null, "q1 a1")],
    ["q1 a1 q3", "2: q1 a1 q2"],
  ],
  [
    "a fork's own checkpoints are one fork",
    [
      snapshot("5", "2", "q1 q4"),
      snapshot("4", "3", "q1 q2 a2"),
      snapshot("3", "2", "q1 q2"),
      snapshot("2", null, "q1"),
    ],
    ["q1 q4", "1: q1 q2 a2"],
  ],
  [
    "a message that was edited keeps its id, and is a fork",
    [snapshot("2", "1", "q1 a1!edited q2"), snapshot("1", null, "q1 a1")],
    ["q1 edited q2", "1: q1 a1"],
  ],
  [
    "what a graph put in place of old messages is the thread, they are a fork",
    [snapshot("2", "1", "q9 a2"), snapshot("1", null, "q1 a1 q2 a2")],
    ["q9 a2", "0: q1 a1 q2 a2"],
  ],
  [
    "several threads",
    [snapshot("2", "1", "q1 a1", "x"), snapshot("2", "1", "q1 a2", "y"), snapshot("1", null, "q1", "x")],
    ["q1 a1", "q1 a2"],
  ],
  [
    "oldest first, as parents say",
    [row("1", null, "q1"), row("2", "1", "q1 a1"), row("3", "1", "q1 a2")],
    ["q1 a2", "1: q1 a1"],
  ],
  [
    "in no order, by ids that say when",
    [tuple(uuid(2), "q1 a1"), tuple(uuid(3), "q1 a2"), tuple(uuid(1), "q1")],
    ["q1 a2", "1: q1 a1"],
  ],
  ["as LangGraph's server gives them", [served("2", "q1 a1"), served("1", "q1")], ["q1 a1"]],
  [
    "without a thread's id, those that begin alike belong together",
    [bare("4", "q1 a1"), bare("3", "q5 a5"), bare("2", "q1"), bare("1", "")],
    ["q1 a1", "q5 a5"],
  ],
];

for (const [title, checkpoints, expected] of TABLE) {
  for (const [written, text] of [
    ["an array", JSON.stringify(checkpoints)],
    ["lines", checkpoints.map((checkpoint) => JSON.stringify(checkpoint)).join("\n")],
  ] as const) {
    test(`LangGraph's checkpoints as ${written}: ${title}`, async () => {
      const { conversations, problems } = await readConversations(Buffer.from(text));
      const read = conversations.map((conversation) => {
        const said = conversation.messages.map(wordsOf).join(" ");
        return conversation.shared === null ? said : `${conversation.shared}: ${said}`;
      });
      assert.deepEqual([read, problems], [expected, []]);
    });
  }
}

test("what a checkpoint has beside its messages is counted and named", async () => {
  const [first, second] = ["1", "2"].map((id) => ({ ...snapshot(id, null, "q1") }));
  const file = [
    {
      ...second,
      values: { messages: [{ type: "human", data: { id: "q1", content: "q1", name: "Ann" } }], docs: ["a"] },
      tasks: [{ id: "x", interrupts: [{ value: "Go on?" }] }],
    },
    { ...first, values: { messages: messages("q1"), docs: [], "branch:to:agent": null } },
  ];
  const { notes } = await readConversations(Buffer.from(JSON.stringify(file)));
  assert.deepEqual(notes.map(({ message }) => message).toSorted(), [
    "left out: an interrupt of a task",
    "left out: another version of a message, with the same id and words",
    'left out: the state\'s value "docs" (2 times)',
  ]);
});

test("a history is imported as a thread and its forks, each message byte for byte", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const file = [snapshot("3", "2", "q9"), snapshot("2", "1", "q1 a2"), snapshot("1", "0", "q1 a1")];
  const bytes = Buffer.from(JSON.stringify(file));
  const outcome = await importFile(threadDeps(store), "history.json", { threadId: "h", bytes, onInvalid: "refuse" });
  assert.ok(outcome.kind === "imported", JSON.stringify(outcome));
  const said = async (threadId: string) => {
    const bodies: string[] = [];
    for await (const { body } of replay({ store }, threadId)) bodies.push(body);
    return bodies;
  };
  const bodies = (words: string) => messages(words).map((message) => JSON.stringify(message));
  assert.deepEqual(outcome.threads, [
    { thread: "h", messages: 1 },
    { thread: "h-fork-1", messages: 2 },
    { thread: "h-fork-2", messages: 1 },
  ]);
  assert.deepEqual(await said("h"), bodies("q9"));
  assert.deepEqual(await said("h-fork-1"), bodies("q1 a2"));
  assert.deepEqual(await said("h-fork-2"), bodies("q1 a1"));
});
