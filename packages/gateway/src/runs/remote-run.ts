/**
 * A run of another instance, read from the store: its events page by page, woken where there is something new, else polled.
 * A run whose process is gone is closed as aborted by its next reader, with what was heard of it. What was heard of its last
 * answer is written to the thread, unless the thread was continued.
 */

import type { AgentEvent, RunResult } from "palimpsest";
import { NO_USAGE } from "palimpsest/internal/models";
import { withWriter } from "palimpsest/internal/threads";
import { appendMessages, type ThreadDeps } from "palimpsest/session";
import type { RunPage, SharedRuns } from "palimpsest/stores";
import { ProblemError } from "../http/problem.ts";
import type { Outcome } from "./published-run.ts";
import type { LoggedEvent, SeenRun, StartedRunFacts, StoppedBy } from "./run.ts";

export interface RemoteDeps {
  readonly runs: SharedRuns;
  readonly threads: ThreadDeps;
  /** Resolves when the run may have something new, and now and then. */
  readonly wait: (id: string) => Promise<void>;
  readonly wake: (id: string) => void;
}

/** So many waits in vain for a run that a crash of the database has forgotten: its owner tells of it again, if it is there. */
const MOST_MISSED = 120;
/** So often who follows says so, and for so long it holds. */
const FOLLOWS_MS = 2_000;
export const FOLLOWED_MS = 10_000;
const END = Number.MAX_SAFE_INTEGER;

/** Null: there is none of this id for this user. */
export async function findRemote(userId: string, id: string, deps: RemoteDeps): Promise<SeenRun | null> {
  let page = await deps.runs.read(id, END);
  if (page?.state === "dead") {
    await closeDead(id, page, deps);
    page = await deps.runs.read(id, END);
  }
  return page === undefined ? null : seen({ userId, id, page }, deps);
}

interface Found {
  readonly userId: string;
  readonly id: string;
  readonly page: RunPage;
}

function seen({ userId, id, page }: Found, deps: RemoteDeps): SeenRun {
  const { threadId, model, askedAt, endedAt, first, last } = page;
  const outcome = page.outcome === null ? null : (JSON.parse(page.outcome) as Outcome);
  const facts: StartedRunFacts = { id, user: userId, thread: threadId, model, askedAt: new Date(askedAt) };
  const problem = outcome?.problem ?? null;
  return {
    facts,
    thread: outcome?.result.threadId ?? threadId,
    status: page.state === "ended" ? "ended" : last === 0 ? "waiting" : "running",
    base: outcome?.base ?? null,
    wrote: outcome?.wrote ?? true,
    endedAt: endedAt === null ? null : new Date(endedAt),
    result: outcome && { ...outcome.result, error: null },
    failure: problem && new ProblemError(problem.status, problem.code, problem.message),
    stoppedBy: outcome?.stoppedBy ?? null,
    kept: { first, last },
    events: (after) => follow(id, after, deps),
    stop: (by) => stop(id, by, deps),
  };
}

async function stop(id: string, _by: StoppedBy, { runs, wake }: RemoteDeps): Promise<void> {
  await runs.ask(id, "cancel");
  wake(id);
}

async function* follow(id: string, after: number, deps: RemoteDeps): ReturnType<SeenRun["events"]> {
  const { runs, wait, wake } = deps;
  let [missed, asked] = [0, Number.NEGATIVE_INFINITY];
  for (let last = after; ; ) {
    const page = await runs.read(id, last);
    if (page === undefined) {
      missed += 1;
      if (missed > MOST_MISSED) return "lost";
      await wait(id);
      continue;
    }
    missed = 0;
    if (page.state === "live" && performance.now() - asked >= FOLLOWS_MS) {
      await runs.ask(id, "follow");
      if (asked < 0) wake(id);
      asked = performance.now();
    }
    if (page.last > last && page.first > last + 1) return "gone";
    const events = eventsOf(page).filter((event) => event.id > last);
    if (events.length > 0) {
      yield events;
      last = events.at(-1)!.id;
    } else if (page.state === "ended") return "ended";
    else if (page.state === "dead") await closeDead(id, page, deps);
    else {
      await wait(id);
    }
  }
}

/** Each once, in order: what was written again after the database forgot it may overlap. */
function eventsOf({ batches }: RunPage): LoggedEvent[] {
  const each = batches.flatMap(({ first, events }) =>
    events.map((data, index): [number, string] => [first + index, data]),
  );
  return [...new Map(each)].sort(([a], [b]) => a - b).map(([id, data]) => ({ id, data }));
}

async function closeDead(id: string, { last }: RunPage, deps: RemoteDeps): Promise<void> {
  const { runs, threads, wake } = deps;
  const lines: string[] = [];
  for (let seen = 0; seen < last; ) {
    const page = await runs.read(id, seen);
    const events = page === undefined ? [] : eventsOf(page).filter((event) => event.id > seen);
    if (events.length === 0) break;
    lines.push(...events.map(({ data }) => data));
    seen = events.at(-1)!.id;
  }
  const heard = heardIn(lines);
  const threadId = heard.threadId ?? (await runs.read(id, END))?.threadId ?? "";
  const { error: _, ...result } = abortedResult(heard, { id, threadId });
  const outcome: Outcome = { result, problem: null, base: null, wrote: heard.seq !== null, stoppedBy: null };
  const event = JSON.stringify({ type: "run-end", end: result.end });
  const batch = { first: last + 1, events: [event] };
  // Only the process that closes it writes what was heard.
  if ((await runs.end(id, { holder: null, batch, outcome: JSON.stringify(outcome) })) === "lost") return;
  wake(id);
  await keepHeard(threads, threadId, heard).catch(() => {});
}

/** Only behind the very record that was told of last. */
async function keepHeard(threads: ThreadDeps, threadId: string, { text, seq }: Heard): Promise<void> {
  if (text === "" || seq === null) return;
  await withWriter(threads, threadId, async (writer) => {
    if ((await threads.store.head(threadId))?.version !== seq) return;
    const body = { role: "assistant", content: [{ type: "text", text }] };
    await appendMessages(writer, [{ dialect: "ai-sdk", origin: "aborted", body }]);
  });
}

/* What is known of a run whose process is gone. Pure. */

export interface Heard {
  /** Of the answer that was under way: what is in no record yet. */
  readonly text: string;
  readonly threadId: string | null;
  /** The record that was told of last; null: none was. */
  readonly seq: number | null;
  readonly steps: number;
}

const NOTHING_HEARD: Heard = { text: "", threadId: null, seq: null, steps: 0 };

/** What the events of a run that broke off say, in their order. */
export function heardIn(events: Iterable<string>): Heard {
  let heard = NOTHING_HEARD;
  for (const line of events) heard = heardMore(heard, JSON.parse(line) as AgentEvent);
  return heard;
}

function heardMore(heard: Heard, event: AgentEvent): Heard {
  switch (event.type) {
    case "run-start":
      return { ...heard, threadId: event.threadId };
    case "text-delta":
      return { ...heard, text: heard.text + event.text };
    case "message-append": {
      const isAnswer = event.role === "assistant";
      return { ...heard, seq: event.seq, text: isAnswer ? "" : heard.text, steps: heard.steps + (isAnswer ? 1 : 0) };
    }
    default:
      return heard;
  }
}

/** How a run ended whose process is gone. */
export function abortedResult(
  { text, steps }: Heard,
  run: { readonly id: string; readonly threadId: string },
): RunResult {
  const nothing = { output: null, usage: NO_USAGE, error: null };
  return { threadId: run.threadId, runId: run.id, end: { kind: "aborted" }, text, steps, ...nothing };
}
