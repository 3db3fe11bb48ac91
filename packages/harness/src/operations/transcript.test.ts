import assert from "node:assert/strict";
import { test } from "node:test";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { openStore } from "../stores/open.ts";
import { transcriptDocument } from "./reading.ts";

test("a thread is read from the newest back, page by page, and nothing is left out or told twice", async (t) => {
  const store = await openStore(":memory:");
  t.after(() => store.close());
  await say(await writeThread(store, "t"), ...Array.from({ length: 7 }, (_, index) => `Word ${index}`));
  const seen: number[] = [];
  for (let before: number | undefined; ; ) {
    const page = await transcriptDocument(store, "t", { before, limit: 3, texts: "cut" });
    seen.unshift(...page.entries.map(({ seq }) => seq));
    if (page.before === null) break;
    before = page.before;
  }
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7]);
});

test("a long text is cut and says how long it is, unless it is asked for whole; an empty thread has no entries", async (t) => {
  const store = await openStore(":memory:");
  t.after(() => store.close());
  await say(await writeThread(store, "t"), "x".repeat(5_000_000));
  const read = async (texts: "cut" | "whole") => {
    const { entries } = await transcriptDocument(store, "t", { limit: 1, texts });
    const [{ text, chars }] = entries[0]!["parts"] as [{ text: string; chars?: number }];
    return [text.length, chars];
  };
  assert.deepEqual(
    [await read("cut"), await read("whole")],
    [
      [20_000, 5_000_000],
      [5_000_000, undefined],
    ],
  );
  const { entries, before } = await transcriptDocument(store, "none", { limit: 1, texts: "cut" });
  assert.deepEqual([entries, before], [[], null]);
});
