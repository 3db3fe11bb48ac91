// Compatibility: what an earlier version wrote is read by this one, word for word.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { palimpsestIn } from "./formats/command.ts";

const FIXTURES = fileURLToPath(new URL("formats/fixtures/", import.meta.url));

interface Replayed {
  readonly messages: readonly unknown[];
}

interface KeptAnswer {
  readonly words: readonly string[];
  readonly answer: unknown;
}

for (const version of readdirSync(FIXTURES)) {
  test(`a home that version ${version} wrote is read, verified, searched and written on`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-formats-test-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(join(FIXTURES, version), folder, { recursive: true });
    const palimpsest = palimpsestIn(join(folder, "home"));
    const kept = JSON.parse(readFileSync(join(folder, "answers.json"), "utf8")) as readonly KeptAnswer[];
    for (const { words, answer } of kept)
      assert.deepEqual(within(JSON.parse(palimpsest(...words, "--json")), answer), answer, words.join(" "));

    const { hits } = JSON.parse(palimpsest("search", "work", "lighthouse", "--json")) as { hits: readonly unknown[] };
    assert.ok(hits.length > 0, "what was indexed then is found");
    palimpsest("run", "And what about the tide on day 3?", "--thread", "work");
    palimpsest("import", join(folder, "work.jsonl"), "--thread", "again");
    palimpsest("verify", "--all");
    const said = (threadId: string) => (JSON.parse(palimpsest("replay", threadId, "--json")) as Replayed).messages;
    assert.deepEqual(
      said("again"),
      said("work").slice(0, said("again").length),
      "the export is read as it was written",
    );
  });
}

/** `now` without what it has more than `then`: a later version may say more, never less. */
function within(now: unknown, then: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(then) && now.length === then.length)
    return now.map((one, index) => within(one, then[index]));
  if (!isObject(now) || !isObject(then)) return now;
  return Object.fromEntries(Object.keys(then).map((key) => [key, within(now[key], then[key])]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
