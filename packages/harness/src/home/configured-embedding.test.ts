import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startEmbeddingsServer } from "@palimpsest/testing/internal/embeddings-server";
import { searchThread } from "../recall/search.ts";
import { type Home, openHome } from "./open-home.ts";

const SECRET = "sk-very-secret-0123456789";

/** A home whose configuration names an embedder that knows one word. */
async function machine(t: TestContext, word: string) {
  const server = await startEmbeddingsServer(word);
  const root = mkdtempSync(join(tmpdir(), "palimpsest-embedding-"));
  const homes: Home[] = [];
  t.after(async () => {
    for (const home of homes) await home.close();
    await server.close();
    rmSync(root, { recursive: true });
  });
  mkdirSync(join(root, "h"));
  const open = async (model = "m") => {
    const entry = `{provider: openai-compatible, model: ${model}, base_url: "${server.url}", api_key: ${SECRET}, pricing: {input: 1000000}}`;
    writeFileSync(
      join(root, "h", "config.yaml"),
      `title: {enabled: false}\nmemory: {enabled: false}\nrecall: {embedder: ${entry}}\n`,
    );
    const errors: string[] = [];
    const home = await openHome({
      home: join(root, "h"),
      cwd: root,
      env: { HOME: join(root, "me") },
      onError: (text) => errors.push(text),
    });
    homes.push(home);
    const close = async (): Promise<void> => {
      homes.splice(homes.indexOf(home), 1);
      await home.close();
    };
    return { home, errors, close };
  };
  return { server, open };
}

/** The first hit of a search that the home's configuration decides. */
async function first(home: Home, question: string): Promise<string | undefined> {
  const outcome = await searchThread(home.store, "t", question, await home.embedding());
  return outcome.kind === "found" ? outcome.hits[0]?.text : outcome.reason;
}

async function say(home: Home, prompt: string, log: (line: string) => void = () => {}): Promise<void> {
  const { agent } = await home.agent({ log });
  await agent.generate({ threadId: "t", prompt });
}

test("the embedder of a configuration is asked behind the runs, before a short process ends, and its cost is the thread's", async (t) => {
  const { server, open } = await machine(t, "loan");
  const one = await open();
  await say(one.home, "the bank gave a loan");
  await one.close();
  assert.equal(server.texts[0], "the bank gave a loan");
  const { home } = await open();
  const { calls, usage } = (await home.charges("t")).embeddings;
  assert.deepEqual([calls, usage.input], [1, server.texts.length * 5]);
  const { spentOn, unpriced } = (await home.cost("t"))!;
  assert.deepEqual([spentOn.embeddings, unpriced.includes("m")], [usage.input, false]);
});

test("another model in the configuration makes all vectors of a thread anew", async (t) => {
  const { server, open } = await machine(t, "river");
  const one = await open();
  await say(one.home, "a bank by the river");
  await one.close();
  const before = server.texts.length;
  const other = await open("other");
  await say(other.home, "good night");
  await other.close();
  assert.ok(server.texts.slice(before).includes("a bank by the river"), "the old words are asked for again");
});

test("an embedder that fails costs no turn and no search, is told once without its key, and is left alone", async (t) => {
  const { server, open } = await machine(t, "loan");
  server.fail(401);
  const { home, errors } = await open();
  const lines: string[] = [];
  const asked = server.asked("loan");
  await say(home, "the bank gave a loan", (line) => lines.push(line));
  await asked;
  for (let round = 0; round < 3; round += 1) assert.ok((await first(home, "bank"))?.includes("bank"));
  const told = [...lines, ...errors].filter((line) => line.includes("embedder"));
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0]!, /the embedder m failed.*words alone/);
  assert.ok(!told[0]!.includes(SECRET), told[0]);
  assert.ok(server.texts.filter((text) => text === "bank").length <= 1, "it is asked no more");
});

test("an embedder without a key is no reason for a home not to open or a search to fail", async (t) => {
  const { open } = await machine(t, "loan");
  const { home } = await open();
  await say(home, "the bank gave a loan");
  const embedder = { provider: "openai" as const, model: "text-embedding-3-small" };
  const { configuredEmbedder } = await import("../models/configured-embedder.ts");
  const outcome = await searchThread(home.store, "t", "bank", { embedder: configuredEmbedder(embedder, { env: {} }) });
  assert.equal(outcome.kind, "found");
});
