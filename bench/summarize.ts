/**
 * A generated thread of millions of tokens through a small summarizer, optionally killed and resumed: how many calls it
 * takes, what was never read, what was asked twice. Needs no data.
 * `npm run bench -- summarize [--tokens 5000000] [--window 8000] [--kill-after N] [--json]`
 */

import { createThread } from "palimpsest/internal/threads";
import { threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { draftTable } from "../packages/harness/src/compaction/drafts.ts";
import { summarizeLongThread } from "../packages/harness/test/playback/long-summary.ts";
import { type Bench, BenchInputError } from "./bench.ts";

const bench: Bench = async (_args, options) => {
  const tokens = positive(options["tokens"] ?? "5000000", "--tokens");
  const window = positive(options["window"] ?? "8000", "--window");
  const killAfter = options["kill-after"] === undefined ? Infinity : positive(options["kill-after"], "--kill-after");
  const store = openSqlite({ path: ":memory:" });
  try {
    await createThread(threadDeps(store), { id: "long" });
    const drafts = draftTable(store.drafts, "long", () => new Date());
    return { window, ...(await summarizeLongThread({ tokens, window, drafts, killAfter })) };
  } finally {
    await store.close();
  }
};

export default bench;

function positive(raw: string | true, flag: string): number {
  const value = Number(raw);
  if (raw === true || !(value >= 1)) throw new BenchInputError(`${flag} ${raw}: give a number above 0.`);
  return value;
}
