import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { scriptedModel } from "@palimpsest/testing";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { createAgent } from "../agent/agent.ts";
import { openStore } from "../stores/open.ts";
import type { FullStore } from "../stores/store.ts";
import { fork } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import type { OnEmbedding } from "./embedder.ts";
import { keepEmbedded } from "./indexing.ts";
import { searchAll, searchThread } from "./search.ts";

const engines = bothEngines();

for (const engine of ENGINES) {
  describe(`an embedder on ${engine}`, () => {
    const open = async (t: { after(work: () => Promise<void>): void }): Promise<FullStore> => {
      const store = await openStore(engines.fresh(engine));
      t.after(() => store.close());
      return store;
    };

    test("orders hits by meaning where words can't, in a fork too, and only once their vectors are there", async (t) => {
      const store = await open(t);
      const writer = await writeThread(store, "t");
      await say(writer, "The bank by the river", "Noted", "The bank gave a loan");
      await fork(writer, "t", { as: "fork", at: 3 });
      const byWords = await seqs(store, "t", { question: "bank" });
      // The question holds neither word, so what holds none either is the nearest.
      for (const [word, nearest] of [
        ["river", 3],
        ["loan", 1],
      ] as const) {
        const embedder = embedsBy(word, { modelId: word });
        const ask = (threadId: string) => seqs(store, threadId, { question: "bank", embedder });
        assert.deepEqual(await ask("t"), byWords);
        await keepEmbedded({ store, embedder }, "fork", NEVER);
        for (const threadId of ["t", "fork"]) assert.equal((await ask(threadId))[0], nearest, `${word} ${threadId}`);
      }
    });

    test("proposes messages without a word of the question, in a fork too, but not to people", async (t) => {
      const store = await open(t);
      const writer = await writeThread(store, "t");
      await say(writer, "the canine barks", "a loan", "another loan", "the last loan");
      await fork(writer, "t", { as: "fork", at: 4 });
      const embedder = embedsBy("loan");
      const ask = (threadId: string, only?: "holders") => seqs(store, threadId, { question: "dogs", embedder, only });
      assert.deepEqual(await ask("t"), []);
      await keepEmbedded({ store, embedder }, "t", NEVER);
      for (const threadId of ["t", "fork"]) assert.equal((await ask(threadId))[0], 1, threadId);
      assert.deepEqual(await ask("t", "holders"), []);
    });

    test("asks for each message once, and again for all when the model or its dimension is another", async (t) => {
      const store = await open(t);
      const writer = await writeThread(store, "t");
      await say(writer, ...Array.from({ length: 70 }, (_, index) => `note ${index}`));
      const embedder = embedsBy("note");
      await keepEmbedded({ store, embedder }, "t", NEVER);
      await keepEmbedded({ store, embedder }, "t", NEVER);
      assert.equal(embedder.asked.length, 70);
      await say(writer, "one more note");
      await keepEmbedded({ store, embedder }, "t", NEVER);
      assert.deepEqual([embedder.asked.length, embedder.asked.at(-1)], [71, "one more note"]);
      const larger = embedsBy("note", { dimension: 5 });
      await seqs(store, "t", { question: "which note", embedder: larger });
      await keepEmbedded({ store, embedder: larger }, "t", NEVER);
      assert.equal((await store.search.vectors!.read({ model: "test/words", dimension: 5 }, places(71))).length, 71);
      await keepEmbedded({ store, embedder: embedsBy("note", { modelId: "other" }) }, "t", NEVER);
      const ofOther = { model: "test/other", dimension: 3 };
      assert.equal((await store.search.vectors!.read(ofOther, places(71))).length, 71);
      assert.deepEqual(await store.search.vectors!.read({ model: "test/words", dimension: 3 }, places(71)), []);
    });

    test("an erased message and a deleted thread leave no vector, also when one is written late", async (t) => {
      const store = await open(t);
      const writer = await writeThread(store, "t");
      await say(writer, "my password is swordfish", "my hobby is archery");
      const embedder = embedsBy("swordfish");
      await keepEmbedded({ store, embedder }, "t", NEVER);
      await store.releaseLease(writer.lease);
      assert.equal((await redact(threadDeps(store), "t", 1)).kind, "redacted");
      const vectors = store.search.vectors!;
      const name = { model: "test/words", dimension: 3 };
      const left = async () => (await vectors.read(name, places(2))).map(({ seq }) => seq);
      assert.deepEqual(await left(), [2]);
      const late = { seq: 1, vector: Int8Array.of(1, 2, 3) };
      assert.equal(await vectors.write("t", { embedder: name, expect: 2, through: 2, vectors: [late] }), "written");
      assert.equal(await vectors.write("t", { embedder: name, expect: 1, through: 2, vectors: [late] }), "conflict");
      assert.deepEqual(await left(), [2]);
      assert.equal(await store.deleteThread("t"), "deleted");
      await writeThread(store, "t");
      assert.deepEqual(await left(), []);
      assert.equal(await vectors.write("gone", { embedder: name, expect: 0, through: 2, vectors: [] }), "missing");
    });

    test("what it takes is told with the thread that asked, and that it fails is told once", async (t) => {
      const store = await open(t);
      await say(await writeThread(store, "t"), "The bank by the river", "The bank gave a loan");
      const told: unknown[] = [];
      const onEmbedding: OnEmbedding = ({ type }, ...asked) => told.push([type, ...asked]);
      const embedder = embedsBy("river", { modelId: "told" });
      await keepEmbedded({ store, embedder, onEmbedding }, "t", NEVER);
      await searchThread(store, "t", "bank", { embedder, onEmbedding });
      await searchAll(store, "bank", { embedder, onEmbedding, askedBy: "other" });
      await searchAll(store, "bank", { embedder, onEmbedding });
      const user = store.userId;
      assert.deepEqual(
        told.splice(0),
        ["t", "t", "other", null].map((threadId) => ["embedding-usage", threadId, user]),
      );
      const failing = { ...embedder, doEmbed: () => Promise.reject(new Error("no such deployment")) };
      for (let round = 0; round < 3; round += 1)
        await searchThread(store, "t", "bank", { embedder: failing, onEmbedding });
      await keepEmbedded({ store, embedder: failing, onEmbedding }, "t", NEVER);
      assert.deepEqual(told, [["embedding-failed", "t", user]]);
    });

    test("one that fails or gives nothing to compare leaves a search as it is without", async (t) => {
      const store = await open(t);
      await say(await writeThread(store, "t"), "The bank by the river", "The bank gave a loan");
      const plain = await seqs(store, "t", { question: "bank" });
      const failing: EmbeddingModelV4 = {
        ...embedsBy("river"),
        doEmbed: () => Promise.reject(new Error("no such deployment")),
      };
      await keepEmbedded({ store, embedder: failing }, "t", NEVER);
      assert.deepEqual(await seqs(store, "t", { question: "bank", embedder: failing }), plain);
      const empty = {
        ...embedsBy("river"),
        modelId: "empty",
        doEmbed: async () => ({ embeddings: [[]], warnings: [] }),
      };
      assert.deepEqual(await seqs(store, "t", { question: "bank", embedder: empty as EmbeddingModelV4 }), plain);
    });
  });
}

test("an agent has its messages embedded behind the run, and answers whether or not that works", async (t) => {
  const embedder = embedsBy("tea");
  const asked = Promise.withResolvers<void>();
  const telling: EmbeddingModelV4 = {
    ...embedder,
    doEmbed(options) {
      if (options.values.includes("Green tea it is.")) asked.resolve();
      return embedder.doEmbed(options);
    },
  };
  const model = scriptedModel(["Green tea it is."]);
  const agent = createAgent({ model, window: 8_000, embedder: telling });
  t.after(() => agent.close());
  const { text } = await agent.generate({ threadId: "t", prompt: "Which tea?" });
  assert.equal(text, "Green tea it is.");
  await asked.promise;
  assert.deepEqual(embedder.asked, ["Which tea?", "Green tea it is."]);
});

test("what is said while a thread is being embedded is embedded too, without another run", async (t) => {
  const store = await openStore(engines.fresh("SQLite"));
  t.after(() => store.close());
  const writer = await writeThread(store, "t");
  await say(writer, "first note");
  const embedder = embedsBy("note", { modelId: "meanwhile" });
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: EmbeddingModelV4 = {
    ...embedder,
    async doEmbed(options) {
      begun.resolve();
      await held.promise;
      return embedder.doEmbed(options);
    },
  };
  const work = keepEmbedded({ store, embedder: slow }, "t", NEVER);
  await begun.promise;
  await say(writer, "second note");
  const again = keepEmbedded({ store, embedder: slow }, "t", NEVER);
  held.resolve();
  await Promise.all([work, again]);
  assert.deepEqual(embedder.asked, ["first note", "second note"]);
});

test("an agent that is closed at once still embeds what was just said, and of a long past one batch", async (t) => {
  const store = await openStore(engines.fresh("SQLite"));
  t.after(() => store.close());
  const writer = await writeThread(store, "t");
  await say(writer, ...Array.from({ length: 100 }, (_, index) => `note ${index}`));
  const embedder = embedsBy("note", { modelId: "closed" });
  const closing = AbortSignal.abort();
  await keepEmbedded({ store, embedder }, "t", { ...NEVER, closing });
  assert.equal(embedder.asked.length, 64);
});

const NEVER = { closing: new AbortController().signal, over: new AbortController().signal };

function places(last: number) {
  return Array.from({ length: last }, (_, at) => ({ threadId: "t", seq: at + 1 }));
}

async function seqs(
  store: FullStore,
  threadId: string,
  {
    question,
    ...settings
  }: { readonly question: string; readonly embedder?: EmbeddingModelV4; only?: "holders" | undefined },
): Promise<number[]> {
  const outcome = await searchThread(store, threadId, question, settings);
  return outcome.kind === "found" ? outcome.hits.map(({ seq }) => seq) : [];
}

/** Knows one word: texts that hold it point one way, all others another. */
function embedsBy(
  word: string,
  { dimension = 3, modelId = "words" } = {},
): EmbeddingModelV4 & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId,
    maxEmbeddingsPerCall: 16,
    supportsParallelCalls: false,
    asked,
    async doEmbed({ values }) {
      asked.push(...values);
      const vector = (text: string) =>
        Array.from({ length: dimension }, (_, at) => (at === Number(text.includes(word)) ? 1 : 0.1));
      return { embeddings: values.map(vector), warnings: [] };
    },
  };
}
