/** A gateway that is killed between two events of a run, again and again, on one thread of one store. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { createClient } from "palimpsest/client";
import { openHome } from "palimpsest/home";
import { verify } from "palimpsest/session";
import { type Upstream, upstream } from "./upstream.ts";

const PROCESS = fileURLToPath(new URL("./serving-process.ts", import.meta.url));

export interface KillReport {
  readonly rounds: number;
  /** Runs that were killed before their end. */
  readonly broken: number;
  /** Messages that a reader was told of. */
  readonly acknowledged: number;
}

/** `afterEvent`: how many events the reader is given in a round before the process is killed. */
export async function killRounds(
  t: TestContext,
  { rounds, afterEvent }: { readonly rounds: number; readonly afterEvent: (round: number) => number },
): Promise<KillReport> {
  const provider = await upstream(t);
  let reader = Promise.withResolvers<void>();
  void answerAll(provider, () => reader.promise);
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-kill-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "config.yaml"), provider.config);
  let [broken, acknowledged] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    reader = Promise.withResolvers();
    const told = await killedRun(t, directory, {
      prompt: `Question ${round}.`,
      events: afterEvent(round),
      mayEnd: reader.resolve,
    });
    if (told.end === null) broken += 1;
    acknowledged += told.appended.length;
    await check(directory, told);
  }
  return { rounds, broken, acknowledged };
}

interface Told {
  readonly prompt: string;
  readonly appended: readonly { readonly seq: number; readonly role: string }[];
  readonly text: string;
  readonly end: string | null;
}

async function killedRun(
  t: TestContext,
  directory: string,
  { prompt, events, mayEnd }: { readonly prompt: string; readonly events: number; mayEnd(): void },
): Promise<Told> {
  const args = ["--conditions=palimpsest-source", PROCESS, directory];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const dead = once(child, "exit");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const appended: { seq: number; role: string }[] = [];
  let [text, end, count]: [string, string | null, number] = ["", null, 0];
  const run = await createClient({ url, wait: async () => {} }).run("t", { prompt });
  try {
    for await (const event of run) {
      if (event.type === "message-append") appended.push(event);
      if (event.type === "text-delta") text += event.text;
      if (event.type === "run-end") end = event.end.kind;
      count += 1;
      if (count === events) child.kill("SIGKILL");
      // However slow the reader is, a run that is to be killed before its last answer doesn't get it first.
      if (count === events || (event.type === "step-start" && event.step > 1)) mayEnd();
    }
  } catch (error) {
    assert.equal(Object(error).code, "unreachable", String(error));
  }
  child.kill("SIGKILL");
  await dead;
  return { prompt, appended, text, end };
}

/** Everything a reader was told of is there, the chain is whole, and no lease is in the way any more. */
async function check(directory: string, { prompt, appended, text, end }: Told): Promise<void> {
  const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
  try {
    const { agent } = await home.agent();
    const roles = new Map<number, string>();
    const bodies: string[] = [];
    for await (const record of agent.thread("t").replay()) {
      roles.set(record.seq, JSON.parse(record.body).role);
      bodies.push(record.body);
    }
    for (const { seq, role } of appended) assert.equal(roles.get(seq), role, `message ${seq} was told of and is gone`);
    if (appended.length > 0) assert.ok(bodies.some((body) => body.includes(prompt)));
    if (end !== null) assert.deepEqual([end, text.endsWith("Noted.")], ["answered", true]);
    assert.equal((await verify(home, "t")).kind, "whole");
    await agent.close();
  } finally {
    await home.close();
  }
}

/** Each turn has a text, a tool call, and an answer behind its result, once the reader is so far. */
async function answerAll(provider: Upstream, mayEnd: () => Promise<void>): Promise<void> {
  for (;;) {
    const request = await provider.next();
    if (request.messages.at(-1)?.role === "tool") {
      await mayEnd();
      request.say("Noted.");
    } else {
      request.say("Let me ");
      request.say("write it down. ");
      request.call("write_todos", { todos: [{ content: "answer", status: "in_progress" }] });
    }
    request.end();
  }
}
