/**
 * Three gateways and two workers on one PostgreSQL, while processes are killed and stopped and the server goes down: every
 * thread has its own user, who talks and comes back through any gateway. What was acknowledged is held against the logs and
 * against memory at the end.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { citusStore } from "@palimpsest/testing/internal/citus";
import { startMovingPostgres } from "@palimpsest/testing/internal/postgres-faults";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { createKey } from "palimpsest/internal/key-operations";
import { threadDeps, verify } from "palimpsest/session";
import { openStore, type Store } from "palimpsest/stores";
import { chaosProvider } from "./chaos-provider.ts";
import { eventsOf } from "./events.ts";
import { Process } from "./process.ts";

export interface ChaosOptions {
  readonly seconds: number;
  readonly threads: number;
  /** Longest time that a process is stopped. */
  readonly stopSeconds: number;
  /** What happens to the database: it goes down and comes back, or its standby takes its place. */
  readonly database: "restarts" | "fails-over" | "citus";
}

export interface ChaosReport {
  answered: number;
  /** Streams that broke off and were gone on with on another gateway. */
  resumed: number;
  /** Runs whose process was gone, closed by a reader. */
  aborted: number;
  refused: number;
  messages: number;
  facts: number;
  kills: number;
  stops: number;
  restarts: number;
  /** Longest time, in seconds, over which a thread was told to be busy again and again by gateways that answered at once. */
  longestBusy: number;
}

interface Told {
  readonly userId: string;
  /** What was said in runs that were answered. */
  readonly answered: string[];
  /** Records that a reader was told of. */
  readonly appended: { readonly seq: number; readonly role: string }[];
  busySince: number | null;
}

export async function chaos(t: TestContext, options: ChaosOptions): Promise<ChaosReport> {
  const place = await prepare(t, await DATABASES[options.database]());
  const report: ChaosReport = {
    answered: 0,
    resumed: 0,
    aborted: 0,
    refused: 0,
    messages: 0,
    facts: 0,
    kills: 0,
    stops: 0,
    restarts: 0,
    longestBusy: 0,
  };
  const until = Date.now() + options.seconds * 1000;
  const users = Array.from({ length: options.threads }, (_, index): Told => {
    return { userId: `user-${index}`, answered: [], appended: [], busySince: null };
  });
  await Promise.all([
    disturb(place, options, { report, until }),
    ...users.map((told) => talk(place, told, { report, until })),
  ]);
  await place.restore();
  // A last word on each thread, so that what was said in broken runs is learned as well.
  await Promise.all(users.map((told) => lastWord(place, told, report)));
  await check(place, users, report);
  return report;
}

interface Database {
  readonly url: string;
  /** It is back when this ends. */
  fail(round: number): Promise<void>;
  stop(): Promise<void>;
}

async function restarting(): Promise<Database> {
  const server = await startPostgres();
  return {
    url: server.url(),
    async fail(round) {
      await (round % 2 === 0 ? server.crash() : server.halt());
      await pause(500);
      await server.start();
    },
    stop: server.stop,
  };
}

async function failingOver(): Promise<Database> {
  const { url, failOver, stop } = await startMovingPostgres();
  return { url: url(), fail: (round) => failOver(round % 2 === 0 ? "first" : "late"), stop };
}

/** Its nodes fail by the command in `PALIMPSEST_CITUS_FAIL`, which gets the round's number; without one its connections end. */
async function onCitus(): Promise<Database> {
  const at = await citusStore();
  const command = process.env["PALIMPSEST_CITUS_FAIL"];
  return {
    url: at.url,
    async fail(round) {
      if (command !== undefined) await promisify(execFile)("sh", ["-c", `${command} ${round}`]);
      else await at.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'palimpsest'");
    },
    stop: at.drop,
  };
}

const DATABASES = { restarts: restarting, "fails-over": failingOver, citus: onCitus } as const;

interface Place {
  readonly database: Database;
  readonly store: Store;
  readonly key: string;
  readonly gateways: readonly Process[];
  readonly processes: readonly Process[];
  /** Everything runs again. */
  restore(): Promise<void>;
}

async function prepare(t: TestContext, database: Database): Promise<Place> {
  const provider = await chaosProvider();
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-chaos-"));
  writeFileSync(
    join(directory, "config.yaml"),
    `models:
  - { name: m, provider: openai-compatible, model: m, base_url: "${provider.url}", api_key: none, max_input_tokens: 100000 }
title: { enabled: false }
memory: { enabled: true, storage_class: postgres, debounce_seconds: 1, max_facts: 500 }
store: { url: "${database.url}" }
gateway: { jobs: false }
`,
  );
  const store = await openStore(database.url);
  const { key } = await createKey(store.keys, { user: "front", role: "delegate", expiresAt: null }, new Date());
  const gateways = Array.from({ length: 3 }, () => new Process("./serving-process.ts", directory));
  const workers = Array.from({ length: 2 }, () => new Process("./working-process.ts", directory));
  const processes = [...gateways, ...workers];
  t.after(async () => {
    await Promise.all(processes.map((one) => one.kill()));
    await store.close();
    await database.stop();
    provider.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  await Promise.all(processes.map((one) => one.start()));
  const restore = async () => {
    for (const one of processes) {
      one.child?.kill("SIGCONT");
      if (one.child?.exitCode !== null || one.child.signalCode !== null) await one.start();
    }
  };
  return { database, store, key, gateways, processes, restore };
}

interface Going {
  readonly report: ChaosReport;
  readonly until: number;
}

async function disturb(place: Place, { stopSeconds, seconds }: ChaosOptions, { report, until }: Going): Promise<void> {
  const every = Math.max(2000, Math.min(8000, seconds * 100));
  const returning: Promise<unknown>[] = [];
  for (let round = 0; Date.now() < until - every; round += 1) {
    await pause(every);
    const one = anyOf(place.processes);
    const act = round % 5 === 4 ? "restart" : Math.random() < 0.6 ? "kill" : "stop";
    if (act === "restart") {
      report.restarts += 1;
      await place.database.fail(round);
    } else if (act === "kill") {
      report.kills += 1;
      await one.kill();
      returning.push(one.start());
    } else {
      report.stops += 1;
      const { child } = one;
      child?.kill("SIGSTOP");
      returning.push(pause(stopSeconds * 1000 * Math.random()).then(() => child?.kill("SIGCONT")));
    }
  }
  await Promise.all(returning);
}

async function talk(place: Place, told: Told, { report, until }: Going): Promise<void> {
  await pause(Math.random() * 2000);
  while (Date.now() < until) {
    await oneRun(place, told, report);
    await pause(200 + Math.random() * 800);
  }
}

async function lastWord(place: Place, told: Told, report: ChaosReport): Promise<void> {
  const before = told.answered.length;
  while (told.answered.length === before) {
    await oneRun(place, told, report);
    await pause(500);
  }
}

const AT_ONCE_MS = 5000;

/** Says something new, and follows what becomes of it through whichever gateway answers. */
async function oneRun(place: Place, told: Told, report: ChaosReport): Promise<void> {
  const book = `b${randomBytes(6).toString("hex")}`;
  const headers = headersOf(place, told);
  const asked = Date.now();
  const begun = await fetch(`${anyOf(place.gateways).url}/api/threads/t/runs`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ prompt: `I own the book ${book}.`, stream: true }),
    signal: AbortSignal.timeout(60_000),
  }).catch(() => null);
  if (begun === null || begun.status !== 200) {
    report.refused += 1;
    // A client that waited for a gateway that was stopped or gone has not been told anything meanwhile.
    if (begun?.status !== 409 || Date.now() - asked > AT_ONCE_MS) told.busySince = null;
    if (begun?.status === 409) {
      told.busySince ??= Date.now();
      report.longestBusy = Math.max(report.longestBusy, (Date.now() - told.busySince) / 1000);
    }
    await begun?.body?.cancel().catch(() => {});
    return;
  }
  told.busySince = null;
  const run = begun.headers.get("x-palimpsest-run")!;
  let [last, end] = [0, null as string | null];
  const read = async (response: Response): Promise<void> => {
    for await (const { id, data } of eventsOf(response)) {
      if (id !== null) {
        assert.equal(id, last + 1, `an event of run ${run} is missing or came twice`);
        last = id;
      }
      if (data.type === "message-append") told.appended.push({ seq: Number(data["seq"]), role: String(data["role"]) });
      if (data.type === "run-end") end = (data["end"] as { kind: string }).kind;
    }
  };
  await read(begun).catch(orBroken);
  for (let attempt = 0; end === null && attempt < 40; attempt += 1) {
    await pause(1000);
    const url = `${anyOf(place.gateways).url}/api/runs/${run}/stream`;
    const again = await fetch(url, {
      headers: { ...headers, "last-event-id": `${run}:${last}` },
      signal: AbortSignal.timeout(60_000),
    }).catch(() => null);
    // The server's crash has taken what was said of it, or its end was told too long ago.
    if (again?.status === 404 || again?.status === 410 || again?.status === 400) break;
    if (again?.status !== 200) continue;
    report.resumed += 1;
    await read(again).catch(orBroken);
  }
  if (end === "answered") {
    report.answered += 1;
    told.answered.push(book);
  } else if (end === "aborted") report.aborted += 1;
}

function orBroken(error: unknown): void {
  if (error instanceof assert.AssertionError) throw error;
}

function headersOf({ key }: Place, { userId }: Told): Record<string, string> {
  return { authorization: `Bearer ${key}`, "x-palimpsest-user": userId };
}

/** Everything that was acknowledged is there once, the chains are whole, and memory has each fact once. */
async function check({ store }: Place, users: readonly Told[], report: ChaosReport): Promise<void> {
  while ((await store.outbox!.list("memory")).length > 0) await pause(500);
  for (const { userId, answered, appended } of users) {
    const own = store.forUser(userId);
    assert.equal((await verify(threadDeps(own), "t")).kind, "whole", userId);
    const roles = new Map<number, string>();
    const text: string[] = [];
    for await (const { record } of own.records("t", { kinds: ["message"] }))
      if (record.kind === "message") {
        roles.set(record.seq, (JSON.parse(record.body!) as { role: string }).role);
        text.push(record.body!);
      }
    report.messages += roles.size;
    for (const { seq, role } of appended) assert.equal(roles.get(seq), role, `${userId}: record ${seq} was told of`);
    const said = text.flatMap((body) => body.match(/I own the book (b[0-9a-f]{12})/)?.[1] ?? []);
    assert.equal(new Set(said).size, said.length, `${userId}: a message stands twice`);
    for (const book of answered) assert.ok(said.includes(book), `${userId}: ${book} was answered and is gone`);
    const document = (await store.memories!.get(userId, ""))?.document ?? '{"facts":[]}';
    const known = (JSON.parse(document) as { facts: { content: string }[] }).facts.map(({ content }) => content);
    const facts = known.flatMap((content) => /User owns the book (b[0-9a-f]{12})/.exec(content)?.[1] ?? []);
    report.facts += facts.length;
    assert.equal(new Set(facts).size, facts.length, `${userId}: a fact stands twice`);
    for (const book of answered) assert.ok(facts.includes(book), `${userId}: ${book} was not learned`);
  }
}

function anyOf<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)]!;
}
