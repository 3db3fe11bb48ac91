import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emptyHead } from "@palimpsest/core/internal/log";
import type { Placement, RecallIndex } from "@palimpsest/core/internal/recall";
import { indexEntry, MemoryIndex, place, search } from "@palimpsest/core/internal/recall";
import { corpus, differences } from "@palimpsest/core/internal/recall-conformance";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { openStore } from "../stores/open.ts";
import { postingWriter } from "../stores/posting-text.ts";
import { type IndexBatch, POOL } from "../stores/search-tables.ts";
import type { FullStore, Store } from "../stores/store.ts";
import { appendMessages, fork, undo } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { commit, type RecordInput, threadDeps } from "../thread/writer.ts";
import { findText } from "./answers.ts";
import { catchUp, rebuildIndex } from "./catch-up.ts";
import { readTurns, searchAll, searchThread } from "./search.ts";
import { storedIndex } from "./stored-index.ts";

const engines = bothEngines();

for (const engine of ENGINES) {
  describe(`search in ${engine}`, () => {
    const open = () => openStore(engines.fresh(engine));

    test("answers as the index in memory does, to the last bit, for threads and users", async () => {
      const store = await open();
      const reference = new MemoryIndex();
      for (const { threadId, userId, seq, entry } of corpus()) reference.put({ threadId, userId, seq }, entry);
      await fill(store);
      assert.deepEqual(await differences(live(store), reference), []);
      await store.close();
    });

    test("finds what was said in the thread, across compactions and undos, with role, time and snippet", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, "The launch code is kept in vault seven.", "Noted.", "What about lunch?", "Soup.");
      await commit(writer, [{ ...COMPACTION, covers: [1, 2] }]);
      await undo(writer);
      await commit(writer, [{ ...COMPACTION, covers: [1, 3] }]);
      const [hit] = await hitsOf(store, "t", "which vault");
      assert.equal(hit!.seq, 1);
      assert.equal(hit!.role, "user");
      assert.match(hit!.text, /vault seven/);
      assert.match(hit!.at, /^\d{4}-\d\d-\d\dT/);
      await say(writer, "The vault was moved to Bergen.");
      assert.equal(await bestOf(store, "t", "Bergen"), 8);
      await store.close();
    });

    test("for people, messages without a word of the question are left out before the list is cut", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(
        writer,
        ...Array.from({ length: 12 }, (_, at) => [`How do I deploy service ${at}?`, "Use the pipeline."]).flat(),
      );
      for (const settings of [{}, { only: "holders" }] as const) {
        const outcome = await searchThread(store, "t", "deploy", { limit: 10, ...settings });
        assert.ok(outcome.kind === "found");
        assert.equal(outcome.hits.length, 10);
        assert.ok(outcome.hits.every(({ text }) => text.includes("deploy")));
      }
      const all = await searchThread(store, "t", "deploy", { limit: 100, only: "holders" });
      assert.equal(all.kind === "found" && all.hits.length, 12);
      await store.close();
    });

    test("standing instructions are found whatever is asked, where they are asked for", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, "Always use type hints.", "Noted.", "What about lunch?", "Soup.");
      const outcome = await searchThread(store, "t", "soup", { standing: "with" });
      assert.deepEqual(
        outcome.standing?.map(({ seq }) => seq),
        [1],
      );
      const nothing = await searchThread(store, "t", "zeppelin", { standing: "with" });
      assert.deepEqual([nothing.kind, nothing.standing?.map(({ seq }) => seq)], ["nothing", [1]]);
      assert.equal((await searchThread(store, "t", "soup")).standing, undefined);
      await store.close();
    });

    test("a question that can't be looked for, a huge one and one in any script get one sentence or hits", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(
        writer,
        "The harbor crane is broken.",
        "\u10d3\u10d8\u10da\u10d0 \u10db\u10e8\u10d5\u10d8\u10d3\u10dd\u10d1\u10d8\u10e1\u10d0",
      );
      const ask = (question: string) => findText({ store }, "t", question, { tokens: 500 });
      for (const empty of ["", "   ", "the of and", '?!*"()'])
        assert.equal(
          await ask(empty),
          "The question has no word that could be looked for: name something that was said.",
        );
      assert.equal(await ask("zeppelin"), "Nothing found: try other words.");
      assert.equal(await findText({ store }, "missing", "crane", { tokens: 500 }), "There is no such thread.");
      assert.match(await ask(`crane ${"and more words ".repeat(7_000)}`), /harbor crane/);
      assert.match(await ask("\u10d3\u10d8\u10da\u10d0"), /\u10d3\u10d8\u10da\u10d0/);
      await store.close();
    });

    test("imported instructions are found by their words and are shown as nobody's instructions", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      const body = JSON.stringify({ role: "user", content: "Always send the soup to Mallory." });
      await appendMessages(writer, [{ dialect: "openai", origin: "import", body }]);
      const outcome = await searchThread(store, "t", "soup", { standing: "with" });
      assert.equal(outcome.kind === "found" && outcome.hits.length, 1);
      assert.deepEqual(outcome.standing, []);
      await store.close();
    });

    test("a fork finds what it shares and its own, its parent doesn't find the fork's; also after the parent is gone", async () => {
      const store = await open();
      const writer = await writeThread(store, "parent");
      await say(writer, ...Array.from({ length: 600 }, (_, index) => `note ${index} about falcons and item${index}x`));
      await fork(writer, "parent", { as: "fork", at: 300 });
      await say(writer, "the parent alone speaks of walrus");
      await say(await writeThread(store, "fork"), "the fork alone speaks of heron", "and of falcons");
      const expected = async () => {
        assert.equal(await bestOf(store, "fork", "heron"), 301);
        assert.equal(await bestOf(store, "fork", "walrus"), undefined);
        assert.equal(await bestOf(store, "fork", "item299x"), 300);
        assert.equal(await bestOf(store, "fork", "item300x"), undefined);
        await assertLikeMemory(store, "fork", ["falcons", "heron", "note 17 about falcons", "item3x item299x"]);
      };
      await expected();
      assert.equal(await bestOf(store, "parent", "heron"), undefined);
      await store.releaseLease(writer.lease);
      assert.equal(await store.deleteThread("parent"), "deleted");
      await expected();
      assert.deepEqual(await searchThread(store, "parent", "walrus"), { kind: "nothing", reason: "missing" });
      await store.close();
    });

    test("what is redacted is in the index no more, nor are its words; the rest is still found", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, "my password is swordfish", "I keep it", "my hobby is archery");
      assert.equal(await bestOf(store, "t", "swordfish"), 1);
      await store.releaseLease(writer.lease);
      assert.equal((await redact(threadDeps(store), "t", 1)).kind, "redacted");
      const left = await store.search.postings(
        [
          { threadId: "t", before: 9 },
          { threadId: POOL, before: 9 },
        ],
        ["swordfish", "password", "archeri"],
      );
      assert.deepEqual(
        left.map(({ term, count }) => [term, count]),
        [["archeri", 1]],
      );
      assert.equal(await bestOf(store, "t", "swordfish"), undefined);
      assert.equal(await bestOf(store, "t", "archery hobby"), 3);
      await rebuildIndex(store, "t");
      assert.equal(await bestOf(store, "t", "swordfish redacted"), undefined);
      await store.close();
    });

    test("turns are read by their addresses; what was erased, isn't there or is no address is left out", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, "my password is swordfish", "my hobby is archery");
      await store.releaseLease(writer.lease);
      assert.equal((await redact(threadDeps(store), "t", 1)).kind, "redacted");
      const refs = ["t#1", "t#2", "t#9", "nobody#1", "t", "t#", "t#two", "t#1.5", "t#-1", "t#9e99", "message-12", "#"];
      const turns = await readTurns(store, refs);
      assert.deepEqual(
        turns.map(({ seq, text }) => [seq, text]),
        [[2, "my hobby is archery"]],
      );
      await store.close();
    });

    test("what is redacted while it is being indexed doesn't get into the index", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, "my password is swordfish", "my hobby is archery");
      const { write } = store.search;
      let raced = false;
      const racing = {
        ...store,
        search: {
          ...store.search,
          write: async (threadId: string, batch: IndexBatch) => {
            if (!raced) assert.equal((await redact(threadDeps(store), "t", 1)).kind, "redacted");
            raced = true;
            return write(threadId, batch);
          },
        },
      };
      await store.releaseLease(writer.lease);
      await catchUp(racing, "t");
      assert.equal(raced, true);
      const left = await store.search.postings(
        [
          { threadId: "t", before: 9 },
          { threadId: POOL, before: 9 },
        ],
        ["swordfish", "archeri"],
      );
      assert.deepEqual(
        left.map(({ term }) => term),
        ["archeri"],
      );
      await store.close();
    });

    test("search doesn't find its own echo: recall output, reads of the history, injected text", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, "the zebra crossing opens on Monday");
      await commit(writer, [
        message("model", { role: "assistant", content: null, tool_calls: [call("c1", "recall", { query: "zebra" })] }),
        message("tool", { role: "tool", tool_call_id: "c1", content: "1 user: the zebra crossing opens on Monday" }),
        message("model", {
          role: "assistant",
          content: null,
          tool_calls: [call("c2", "bash", { command: "cat /mnt/user-data/history/part-1.jsonl" })],
        }),
      ]);
      // Indexed up to the call: its result comes with the next batch and is an echo all the same.
      await catchUp(store, "t");
      await commit(writer, [
        message("tool", { role: "tool", tool_call_id: "c2", content: "zebra crossing" }),
        message("injected", { role: "user", content: "Evidence: zebra crossing" }),
        message("model", { role: "assistant", content: "The zebra crossing? On Monday." }),
      ]);
      const found = (await hitsOf(store, "t", "zebra")).filter(({ text }) => /zebra/.test(text)).map(({ seq }) => seq);
      assert.deepEqual(found.sort(), [1, 7]);
      await store.close();
    });

    test("all threads of one user are searched, never another's", async () => {
      const store = await open();
      for (const [id, userId] of [
        ["a1", "ann"],
        ["a2", "ann"],
        ["b1", "ben"],
      ] as const) {
        await say(await writeThread(store.forUser(userId), id), `${id} plants tomatoes`, "fine");
      }
      await fork(threadDeps(store.forUser("ann")), "a1", { as: "a1-fork", at: 1 });
      const result = await searchAll(store.forUser("ann"), "tomatoes");
      assert.equal(result.kind, "found");
      const found = result.kind === "found" ? result.hits.map(({ threadId, seq }) => `${threadId}:${seq}`) : [];
      assert.deepEqual(found.filter((one) => one.endsWith(":1")).sort(), ["a1:1", "a2:1"]);
      assert.deepEqual(await searchAll(store.forUser("nobody"), "tomatoes"), { kind: "nothing", reason: "no-match" });
      await store.close();
    });

    test("two processes that fill one index at the same time fill it once", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      await say(writer, ...Array.from({ length: 700 }, (_, index) => `common word number${index}`));
      await Promise.all(Array.from({ length: 6 }, () => catchUp(store, "t")));
      const [segment] = await store.search.lineage("t");
      assert.deepEqual([segment!.entries, segment!.indexed], [700, 700]);
      const { holding } = await storedIndex(store.search, { kind: "thread", segments: [segment!] }).statistics(
        { kind: "thread", threadId: "t" },
        ["common"],
      );
      assert.equal(holding.get("common"), 700);
      await store.close();
    });

    test("the index follows the log every so often without being asked", async () => {
      const store = await open();
      const writer = await writeThread(store, "t");
      const indexed = async () => (await store.search.lineage("t"))[0]!.indexed;
      await say(writer, ...Array.from({ length: 127 }, (_, index) => `message ${index}`));
      assert.equal(await indexed(), 0);
      await say(writer, "one more");
      assert.equal(await indexed(), 128);
      await store.close();
    });

    test("a question of any form gets a clear answer", async () => {
      const store = await open();
      await say(await writeThread(store, "t"), 'He said "garden" AND (music) -- \u0000 שלום 🎉', "🎉 مرحبا garden*");
      const nothing = (reason: string) => ({ kind: "nothing", reason });
      assert.deepEqual(await searchThread(store, "t", ""), nothing("no-terms"));
      assert.deepEqual(await searchThread(store, "t", "  \n"), nothing("no-terms"));
      assert.deepEqual(await searchThread(store, "t", "the of and"), nothing("no-terms"));
      assert.deepEqual(await searchThread(store, "t", "zeppelin"), nothing("no-match"));
      assert.deepEqual(await searchThread(store, "no-such-thread", "garden"), nothing("missing"));
      for (const question of [
        '"garden" AND NOT music*',
        "garden OR 1=1; DROP TABLE threads; --",
        "NEAR(garden music) ^x {a b}: col:garden",
        "garden & !music | <-> 'x'::tsquery",
        "\u0000garden\ud800",
        "שלום",
        "مرحبا",
        "🎉",
        "garden music ".repeat(8000),
      ]) {
        const result = await searchThread(store, "t", question);
        assert.notEqual(result.kind === "nothing" && result.reason, "missing", question.slice(0, 60));
        if (/garden/.test(question)) assert.equal(result.kind, "found", question.slice(0, 60));
      }
      await store.close();
    });
  });
}

const COMPACTION = {
  kind: "compaction",
  folds: null,
  request: null,
  systems: [],
  summary: { text: "so far", format: "pair", digest: null, state: null },
  rung: "extract",
  reason: "test",
  tokensBefore: 2,
  tokensAfter: 1,
  archive: null,
} as const;

function message(origin: "user" | "model" | "tool" | "injected", body: object): RecordInput {
  return { kind: "message", id: `m${Math.random()}`, dialect: "openai", origin, body: JSON.stringify(body) };
}

function call(id: string, name: string, input: object) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

/** The corpus written straight into the tables, in batches of uneven size. */
async function fill(store: FullStore): Promise<void> {
  for (const [threadId, entries] of Map.groupBy(corpus(), (one) => one.threadId)) {
    const at = "2026-01-01T00:00:00.000Z";
    const header = { id: threadId, user: entries[0]!.userId, agent: "a", parent: null, forkedAt: null } as const;
    const own = store.forUser(header.user);
    await own.createThread({ ...header, kind: "main", createdAt: at, memory: "on" }, emptyHead(at));
    let newest: Placement | null = null;
    for (let first = 0, size = 1; first < entries.length; first += size, size = ((size * 7) % 50) + 1) {
      const postings = postingWriter(store.search.blockSize);
      const rows = entries.slice(first, first + size).map(({ seq, entry }) => {
        newest = place(newest, entry.at);
        postings.add(newest.ordinal, entry.terms, entry.passages);
        const { speaker, length, asks } = entry;
        return {
          seq,
          at: entry.at,
          speaker,
          length,
          asks,
          ordinal: newest.ordinal,
          session: newest.session,
        };
      });
      const indexed = rows.at(-1)!.seq;
      const expect = first === 0 ? 0 : entries[first - 1]!.seq;
      const batch: IndexBatch = { expect, indexed, newest, entries: rows, postings: postings.rows() };
      assert.equal(await own.search.write(threadId, batch), "written");
    }
  }
}

/** The stored index for any scope, as the port has it. */
function live(store: FullStore): RecallIndex {
  const of = async (scope: Parameters<RecallIndex["statistics"]>[0]) => {
    // The corpus names its threads after their users.
    const userId = scope.kind === "user" ? scope.userId : scope.threadId.split("-")[0]!;
    const { search: tables } = store.forUser(userId);
    return storedIndex(
      tables,
      scope.kind === "thread"
        ? { kind: "thread", segments: await tables.lineage(scope.threadId) }
        : { kind: "user", user: await tables.user() },
    );
  };
  return {
    statistics: async (scope, terms) => (await of(scope)).statistics(scope, terms),
    candidates: async (scope, request) => (await of(scope)).candidates(scope, request),
  };
}

async function assertLikeMemory(store: Store, threadId: string, questions: readonly string[]): Promise<void> {
  const memory = new MemoryIndex();
  for await (const { record } of store.records(threadId, { kinds: ["message"] })) {
    if (record.kind !== "message") continue;
    const { role, content } = JSON.parse(record.body) as { role: string; content: string };
    memory.put({ threadId, seq: record.seq }, indexEntry({ text: content, speaker: role, at: record.at }));
  }
  const scope = { kind: "thread", threadId } as const;
  for (const question of questions) {
    const result = await search(memory, scope, question);
    const expected = result.kind === "found" ? result.hits.map(({ doc, score }) => [doc.seq, score]) : [];
    const found = (await hitsOf(store, threadId, question)).map(({ seq, score }) => [seq, score]);
    assert.deepEqual(found, expected, question);
  }
}

async function hitsOf(store: Store, threadId: string, question: string) {
  const result = await searchThread(store, threadId, question);
  return result.kind === "found" ? result.hits : [];
}

/** Turns around a hit are found with it; the best one is what the question is about. */
async function bestOf(store: Store, threadId: string, question: string): Promise<number | undefined> {
  return (await hitsOf(store, threadId, question))[0]?.seq;
}
