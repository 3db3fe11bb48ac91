import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { endRule, restoreRule } from "@palimpsest/core/internal/log";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { openStore } from "../stores/open.ts";
import type { Store } from "../stores/store.ts";
import { changeRules } from "../thread/chosen.ts";
import { findText } from "./answers.ts";

describe("rules that ended", () => {
  test("recall does not list a rule that a person ended, and lists it again when it is restored", async () => {
    const store = await openStore(":memory:");
    const writer = await writeThread(store, "t");
    await say(writer, "Always use tabs. Never push to main.", "Noted.", "Soup is ready.");
    const ask = () => lane(store, "t");
    assert.match(await ask(), /Always use tabs\.[\s\S]*Never push to main\./);
    await changeRules(writer, (rules, at) => endRule(rules, "r1", at));
    assert.doesNotMatch(await ask(), /tabs/);
    assert.match(await ask(), /Never push to main\./);
    await changeRules(writer, (rules, at) => restoreRule(rules, "r1", at));
    assert.match(await ask(), /Always use tabs\./);
    await store.close();
  });

  test("recall lists only the newer of two rules of which one replaces the other", async () => {
    const store = await openStore(":memory:");
    const writer = await writeThread(store, "t");
    await say(writer, "From now on, answer in German.", "Gut.", "From now on, answer in English.", "Fine.", "Soup?");
    const text = await lane(store, "t");
    assert.match(text, /answer in English/);
    assert.doesNotMatch(text, /answer in German/);
    await store.close();
  });
});

/** The lines that `recall` shows as instructions, before the first date. */
async function lane(store: Store, threadId: string): Promise<string> {
  const text = await findText({ store }, threadId, "soup", { tokens: 500 });
  return text.split(/^\d{4}-\d\d-\d\d$/m)[0]!;
}
