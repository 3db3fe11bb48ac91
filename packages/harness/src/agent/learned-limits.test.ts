import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type ProviderServer, startProviderServer } from "@palimpsest/testing";
import { plainCounter } from "../../test/agent/agent-kit.ts";
import { createDeepAgent } from "../home/create-deep-agent.ts";
import { limitsIn } from "../models/tokenizers.ts";
import { openSqlite } from "../stores/sqlite.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(60);

test("a window that the provider stated is known to the next process: it is not refused again", async (t) => {
  const server = await startProviderServer({ window: 8_000, respond: () => "done", record: "verdicts" });
  t.after(() => server.close());
  const path = join(folder(t), "learned-limits.json");
  await converse(server, path);
  assert.equal(refusals(server), 1);
  assert.match(readFileSync(path, "utf8"), /"tokens": 8000/);
  await converse(server, path);
  assert.equal(refusals(server), 1);
});

test("a file that is no list of limits counts for nothing, and is replaced", (t) => {
  const path = join(folder(t), "learned-limits.json");
  for (const text of ["", "[1", '{"a": 3, "b": {"tokens": -1, "learnedAt": 0}, "c": null}', "null", "7"]) {
    writeFileSync(path, text);
    assert.deepEqual(limitsIn(path).read(), {}, text);
  }
  const limits = { '["p",null,"m"]': { tokens: 8_000, learnedAt: 5 } };
  limitsIn(path).keep(limits);
  assert.deepEqual(limitsIn(path).read(), limits);
  limitsIn(join(path, "no", "folder")).keep(limits);
});

/** A thread that outgrows the provider's window long before the one that was configured. */
async function converse({ url }: ProviderServer, path: string): Promise<void> {
  const model = createOpenAICompatible({ name: "local", baseURL: url, includeUsage: true })("m");
  const store = openSqlite({ path: ":memory:" });
  const agent = createDeepAgent({
    model,
    store,
    counter: plainCounter,
    window: 100_000,
    summarizer: null,
    limits: limitsIn(path),
    maxOutputTokens: 500,
  });
  for (let turn = 0; turn < 8; turn++) await agent.generate({ threadId: "t", prompt: `${turn}: ${WORDS}` });
  await store.close();
}

function refusals({ requests }: ProviderServer): number {
  return requests.filter(({ verdict }) => verdict.kind === "refused").length;
}

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "palimpsest-limits-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}
