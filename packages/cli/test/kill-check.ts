/**
 * Kills a command at its steps, one after another, each time on the same home, and holds what is left to the same promise:
 * running it again, or the doctor, completes it, and nothing is left over.
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type Desk, desk, palimpsest } from "./binary.ts";
import { exchanges, importMessages } from "./conversations.ts";

const KILLER = fileURLToPath(new URL("./kill-at-step.ts", import.meta.url));

export interface Case {
  /** Makes the home; returns the command and what must hold after it was run again. */
  prepare(at: Desk): Promise<{ readonly command: readonly string[]; done(home: string): Promise<void> }>;
}

/** Every `stride`-th step, and the last; returns how many were tried. */
export async function killAtSteps(t: TestContext, { prepare }: Case, stride: number): Promise<number> {
  const at = desk(t);
  const { command, done } = await prepare(at);
  const steps = await count(at, command);
  let tried = 0;
  for (let step = 1; step <= steps; step += stride) {
    const home = at.file(`killed-${step}`);
    cpSync(at.home, home, { recursive: true });
    const env = { PALIMPSEST_HOME: home, KILL_AT: String(step) };
    const killed = await palimpsest(command, env, ["--import", KILLER]);
    assert.equal(killed.code, null, `step ${step} of ${steps}: ${killed.stderr}`);
    freeLeases(home);
    await done(home).catch((error: unknown) => {
      throw new Error(`killed at step ${step} of ${steps}`, { cause: error });
    });
    rmSync(home, { recursive: true });
    tried += 1;
  }
  return tried;
}

async function count(at: Desk, command: readonly string[]): Promise<number> {
  const home = at.file("counted");
  cpSync(at.home, home, { recursive: true });
  const file = at.file("steps.txt", "");
  const { code, stderr } = await palimpsest(command, { PALIMPSEST_HOME: home, STEPS_FILE: file }, ["--import", KILLER]);
  assert.equal(code, 0, stderr);
  return readFileSync(file, "utf8").split("\n").length - 1;
}

/** As time does: what a killed process held is free after half a minute. */
function freeLeases(home: string): void {
  const path = join(home, "palimpsest.db");
  if (!existsSync(path)) return;
  const database = new DatabaseSync(path);
  try {
    database.exec("UPDATE leases SET expires = 0");
  } finally {
    database.close();
  }
}

const WORD = "Zebrafishquark";

function nowhere(home: string): void {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  const found = names.filter((name) => {
    const path = join(home, name);
    return statSync(path).isFile() && readFileSync(path).includes(WORD);
  });
  assert.deepEqual(found, []);
}

function on(home: string) {
  return (...args: readonly string[]) => palimpsest(args, { PALIMPSEST_HOME: home });
}

/** Without running the command again: of what was begun the doctor finds and completes the rest. */
async function healsBegun(home: string, begun: (run: ReturnType<typeof on>) => Promise<boolean>): Promise<void> {
  const copy = `${home}-healed`;
  cpSync(home, copy, { recursive: true });
  await on(copy)("doctor", "--rebuild");
  if (await begun(on(copy))) nowhere(copy);
  const { code, stdout } = await on(copy)("doctor", "--rebuild");
  assert.equal(code, 0, stdout);
  rmSync(copy, { recursive: true });
}

/** With `--rebuild`, a second time: the first may say what it completed. */
async function healthy(home: string): Promise<void> {
  await on(home)("doctor", "--rebuild");
  const { code, stdout } = await on(home)("doctor");
  assert.equal(code, 0, stdout);
}

async function longThread(at: Desk): Promise<void> {
  const messages = exchanges(40).map((one, index) =>
    index === 6 ? { ...one, content: `${WORD} ${one.content}` } : one,
  );
  await importMessages(at, "a", messages);
  rmSync(at.file("a.jsonl"));
  await at.run("compact", "a");
  await at.run("run", "What about this one?", "--thread", "a");
}

function redacting(threadId: string, seq: number) {
  const command = ["redact", threadId, String(seq)];
  return {
    command,
    async done(home: string): Promise<void> {
      await healsBegun(home, async (run) => !(await run("replay", threadId)).stdout.includes(WORD));
      const { code, stderr } = await on(home)(...command);
      assert.equal(code, 0, stderr);
      nowhere(home);
      await healthy(home);
    },
  };
}

export const CASES: Readonly<Record<string, Case>> = {
  redact: {
    async prepare(at) {
      await longThread(at);
      return redacting("a", 7);
    },
  },
  "redact of a message that was learned from": {
    async prepare(at) {
      await at.run("run", `I live in ${WORD}.`, "--thread", "c");
      const { facts } = (await at.json("memory", "show")).document as { facts: readonly object[] };
      assert.equal(facts.length, 1, "the fixture is learned from");
      await at.run("run", "hello there", "--thread", "d");
      const { seqs } = (await at.json("replay", "c")).document as { seqs: readonly [number, number] };
      // The answer repeats it, and is a message of its own.
      await at.run("redact", "c", String(seqs[1]));
      return redacting("c", seqs[0]);
    },
  },
  "memory forget --redact": {
    async prepare(at) {
      const { document } = await at.json("memory", "add", `User's boat is called ${WORD}`);
      const { id } = document["fact"] as { readonly id: string };
      for (const threadId of ["a", "b"]) await at.run("run", "hello there", "--thread", threadId);
      const command = ["memory", "forget", id, "--redact"];
      return {
        command,
        async done(home) {
          await healsBegun(home, async (run) => !(await run("memory", "show")).stdout.includes(WORD));
          const { code, stderr } = await on(home)(...command);
          assert.equal(code, 0, stderr);
          nowhere(home);
          await healthy(home);
        },
      };
    },
  },
  "threads delete": {
    async prepare(at) {
      await longThread(at);
      const uploads = join(at.home, "threads", "a", "uploads");
      mkdirSync(uploads, { recursive: true });
      writeFileSync(join(uploads, "note.txt"), WORD);
      return {
        command: ["threads", "delete", "a"],
        async done(home) {
          const again = await on(home)("threads", "delete", "a");
          assert.match(`${again.code} ${again.stderr}`, /^0|There is no thread/);
          nowhere(home);
          assert.ok(!existsSync(join(home, "threads", "a")));
          await healthy(home);
        },
      };
    },
  },
  fork: {
    async prepare(at) {
      await at.run("run", "hello there", "--thread", "a");
      const uploads = join(at.home, "threads", "a", "uploads");
      mkdirSync(uploads, { recursive: true });
      for (let n = 0; n < 6; n += 1) writeFileSync(join(uploads, `${n}.txt`), "x".repeat(1000));
      const command = ["fork", "a", "--at", "2", "--as", "b"];
      return {
        command,
        async done(home) {
          const again = await on(home)(...command);
          assert.match(`${again.code} ${again.stderr}`, /^0|exists already/);
          assert.equal(readdirSync(join(home, "threads", "b", "uploads")).length, 6);
          await healthy(home);
        },
      };
    },
  },
  import: {
    async prepare(at) {
      await at.run("run", "hello there", "--thread", "a");
      const lines = exchanges(200)
        .map((one) => JSON.stringify(one))
        .join("\n");
      const command = ["import", at.file("long.jsonl", lines), "--thread", "b"];
      return {
        command,
        async done(home) {
          const listed = (await on(home)("threads", "--json")).stdout;
          const found = (JSON.parse(listed) as { threads: { id: string; messages: number }[] }).threads;
          const there = found.filter(({ id }) => id === "b").map(({ messages }) => messages);
          assert.ok(there.length === 0 || there[0] === 400, "all of it or nothing");
          const again = await on(home)(...command);
          assert.match(`${again.code} ${again.stderr}`, /^0|exists already/);
          await healthy(home);
        },
      };
    },
  },
};
