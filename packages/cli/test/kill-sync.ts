// Kills the program that writes a session, or the one that follows it, round after round, and compares what was stored.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BINARY, CLEAN, type Desk } from "./binary.ts";

const WRITER = fileURLToPath(new URL("./session-writer.ts", import.meta.url));

export async function killSync(at: Desk, rounds: number): Promise<{ readonly messages: number; readonly cut: number }> {
  const folder = join(at.home, "..", "sessions");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "s.jsonl");
  let writer = await startWriter(file);
  for (let round = 0; round < rounds; round += 1) {
    const sync = start(BINARY, "sync", folder, "--format", "claude-code", "--home", at.home);
    const ended = exited(sync);
    const timer = setTimeout(() => sync.kill("SIGKILL"), 150 + ((round * 37) % 500));
    if (round % 3 === 2) {
      await killed(writer);
      writer = await startWriter(file);
    }
    await ended;
    clearTimeout(timer);
  }
  await killed(writer);
  const last = await at.run("sync", folder, "--format", "claude-code");
  assert.equal(last.code, 0, last.stderr);
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const whole = lines.flatMap((line) => {
    try {
      return [JSON.stringify(JSON.parse(line).message)];
    } catch {
      return [];
    }
  });
  const { stdout } = await at.run("replay", "claude-code-s", "--raw");
  assert.deepEqual(stdout.trimEnd().split("\n"), whole);
  assert.equal((await at.json("verify", "claude-code-s")).document["ok"], true);
  assert.deepEqual(
    ((await at.json("threads")).document["threads"] as { id: string }[]).map(({ id }) => id),
    ["claude-code-s"],
  );
  return { messages: whole.length, cut: lines.length - whole.length };
}

const start = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, ["--conditions=palimpsest-source", ...args], {
    env: CLEAN,
    stdio: ["ignore", "pipe", "ignore"],
  });

/** Once it has written something. */
async function startWriter(file: string): Promise<ChildProcess> {
  const writer = start(WRITER, file, "1");
  await new Promise((resolve) => writer.stdout!.once("data", resolve));
  return writer;
}

const exited = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once("exit", () => resolve()));

async function killed(child: ChildProcess): Promise<void> {
  const ended = exited(child);
  child.kill("SIGKILL");
  await ended;
}
