// How the bench runner answers bad usage, and that the token bench runs on a session made up here.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const runner = fileURLToPath(new URL("../bench/run.ts", import.meta.url));
const bench = (...args: string[]) =>
  spawnSync(process.execPath, ["--conditions=palimpsest-source", runner, ...args], { encoding: "utf8" });

test("an unknown bench lists the known ones and is bad usage", () => {
  const { status, stderr, stdout } = bench("nonsense");
  assert.equal(status, 2);
  assert.match(stderr, /no bench "nonsense".*\btokens\b/);
  assert.equal(stdout, "");
});

test("without a name nothing is run: the committed results stay as they are", () => {
  const { status, stderr, stdout } = bench();
  assert.equal(status, 2);
  assert.match(stderr, /^Name a bench\. Known: all, /);
  assert.equal(stdout, "");
});

test("a missing data file is one clear line and a failure", () => {
  const { status, stderr } = bench("tokens", join(tmpdir(), "no-such-session.jsonl"));
  assert.equal(status, 1);
  assert.match(stderr, /^Cannot read the data file [^\n]*no-such-session\.jsonl \(ENOENT\)[^\n]*\n$/);
});

test("[F26] the token bench prints one JSON document, counts the zero reports and predicts what was reported", () => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  try {
    const file = join(folder, "session.jsonl");
    writeFileSync(file, session());
    const { status, stdout } = bench("tokens", file, "--counter", "chars", "--json");
    assert.equal(status, 0);
    const figures = JSON.parse(stdout);
    assert.equal(figures.ignored, 1);
    assert.equal(figures.n, 39);
    assert.ok(figures.anchored.p95 < 0.005, `anchored ${figures.anchored.p95}`);
    assert.ok(figures.delta.p50 < 0.08, `delta ${figures.delta.p50}`);
    const { charsOver4, answerReported, heldOut } = figures;
    assert.ok(charsOver4.delta.p50 > 0.2, `chars over 4 ${charsOver4.delta.p50}`);
    assert.ok(charsOver4.anchored.p95 < 0.1, "from the same report as ours");
    assert.ok(answerReported.delta.p95 <= charsOver4.delta.p95);
    assert.equal(heldOut, null);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Forty calls whose tokens are a third of their characters, before a system prompt of 3,000 and one failed call. */
function session(): string {
  const lines: object[] = [];
  let prompt = 3000;
  const say = (message: object, tokens: number, usage?: object) => {
    lines.push({
      at: "2026-01-01T00:00:00.000Z",
      segment: 0,
      message,
      ...(usage ? { usage, model: "claude-test" } : {}),
    });
    prompt += tokens;
  };
  say({ role: "user", content: "Look into it. ".repeat(30) }, 140);
  for (let call = 0; call < 40; call += 1) {
    const text = `Step ${call}: reading the next file, then the one after. `.repeat(1 + (call % 5));
    const output = Math.round(text.length / 3);
    say({ role: "assistant", content: text }, output, { input: 1, output, cache_read: prompt - 1, cache_write: 0 });
    if (call === 20)
      say({ role: "assistant", content: null }, 0, { input: 0, output: 0, cache_read: 0, cache_write: 0 });
    const result = `line ${call} of the log says that all is well\n`.repeat(10 + (call % 7) * 5);
    say({ role: "user", content: result }, Math.round(result.length / 3));
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
