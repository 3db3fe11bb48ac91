// Sessions with very many forks: what writing them costs, counted in records that are read again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openSqlite } from "../stores/index.ts";
import type { Store } from "../stores/store.ts";
import { headAt } from "../thread/acts.ts";
import { verify } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";
import { importFile } from "./import-file.ts";

const COUNT = 60;

interface Entry {
  readonly id: string;
  readonly parent: string | null;
  readonly role: "user" | "assistant";
}

const roleOf = (index: number): Entry["role"] => (index % 2 === 0 ? "user" : "assistant");

/** One long session, and forks that leave it near its end. */
const lateForks: readonly Entry[] = [
  ...Array.from({ length: COUNT }, (_, index) => ({
    id: `n${index}`,
    parent: index === 0 ? null : `n${index - 1}`,
    role: roleOf(index),
  })),
  ...Array.from({ length: COUNT }, (_, index) => ({
    id: `f${index}`,
    parent: `n${COUNT - 4 - (index % 4) * 2}`,
    role: "user" as const,
  })),
];

/** Each fork leaves the one before it. */
const nestedForks: readonly Entry[] = Array.from({ length: COUNT }, (_, index): Entry[] => [
  { id: `q${index}`, parent: index === 0 ? null : `q${index - 1}`, role: "user" },
  { id: `a${index}`, parent: `q${index}`, role: "assistant" },
]).flat();

const formats: Record<string, (entries: readonly Entry[]) => readonly object[]> = {
  pi: (entries) => [
    { type: "session", version: 3, id: "s", cwd: "/project" },
    ...entries.flatMap(({ id, parent, role }) => [
      { type: "message", id, parentId: parent, message: { ...messageOf(id, role), usage: { input: 9, output: 1 } } },
      { type: "compaction", id: `mark ${id}`, parentId: id, summary: "short" },
    ]),
  ],
  "Claude Code": (entries) =>
    entries.flatMap(({ id, parent, role }) => {
      const line = { uuid: id, parentUuid: parent, sessionId: "s", type: role, timestamp: "2026-01-02T03:04:05Z" };
      return [
        { ...line, message: { ...messageOf(id, role), id, usage: { input_tokens: 9, output_tokens: 1 } } },
        { ...line, uuid: `mark ${id}`, parentUuid: id, type: "system", subtype: "compact_boundary" },
      ];
    }),
};

const messageOf = (id: string, role: string) => ({ role, content: [{ type: "text", text: id }], model: "m" });

for (const [format, linesOf] of Object.entries(formats))
  for (const [shape, entries] of Object.entries({ lateForks, nestedForks }))
    test(`${format}, ${shape}: what is read again grows with the messages, and every fork is whole`, async (t) => {
      const { store, counted, reads } = countedStore();
      t.after(() => store.close());
      const bytes = Buffer.from(
        linesOf(entries)
          .map((line) => JSON.stringify(line))
          .join("\n"),
      );
      const options = { threadId: "t", bytes, onInvalid: "refuse", recordsAtOnce: 50 } as const;
      const outcome = await importFile(threadDeps(counted), "session.jsonl", options);
      assert.ok(outcome.kind === "imported", JSON.stringify(outcome));
      assert.ok(outcome.threads.length > COUNT / 2);
      assert.ok(reads() < 12 * entries.length, `${reads()} records were read for ${entries.length} messages`);
      for (const { thread } of outcome.threads) {
        assert.equal((await verify(threadDeps(store), thread)).kind, "whole");
        const head = (await store.head(thread))!;
        assert.deepEqual(await headAt({ store }, thread, head.version), head);
      }
    });

test("forks that are nested too deep are a problem of the file, and left out where those are skipped", async (t) => {
  const { store } = countedStore();
  t.after(() => store.close());
  const entries = Array.from({ length: 210 }, (_, index): Entry[] => [
    { id: `q${index}`, parent: index === 0 ? null : `q${index - 1}`, role: "user" },
    { id: `a${index}`, parent: `q${index}`, role: "assistant" },
  ]);
  const bytes = Buffer.from(
    formats["pi"]!(entries.flat())
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
  const options = { threadId: "t", bytes, memory: "skip" } as const;
  const refused = await importFile(threadDeps(store), "s.jsonl", { ...options, onInvalid: "refuse" });
  assert.ok(refused.kind === "invalid");
  assert.match(refused.problems[0]!.message, /nested more than 200 deep/);
  const taken = await importFile(threadDeps(store), "s.jsonl", { ...options, onInvalid: "skip" });
  assert.ok(taken.kind === "imported");
  assert.deepEqual([taken.threads.length, taken.invalid.length], [201, 9]);
});

/** A store that counts the records it hands out. */
function countedStore() {
  const store = openSqlite({ path: ":memory:" });
  let count = 0;
  const counted = new Proxy(store, {
    get(target, name) {
      if (name !== "records") {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async function* (...args: Parameters<Store["records"]>) {
        for await (const record of target.records(...args)) {
          count += 1;
          yield record;
        }
      };
    },
  });
  return { store, counted, reads: () => count };
}
