/**
 * What the list says of a thread beyond its row: how full its window is, what it cost, which model answered. Asked for while
 * it is in sight, a few at a time, and again once the thread has changed.
 */
import { signal } from "@preact/signals";
import { ask } from "./ask.ts";

export interface ThreadFacts {
  readonly total: number;
  readonly window: number;
  /** In US dollars; null: no price is known. */
  readonly cost: number | null;
  /** Of the newest answer; null: none was reported. */
  readonly model: string | null;
}

/** By thread, each as of one change. */
export const threadFacts = signal<ReadonlyMap<string, ThreadFacts>>(new Map());

interface FactsQuery {
  readonly id: string;
  readonly updatedAt: string;
}

const AT_ONCE = 3;
const asOf = new Map<string, string>();
let queue: readonly FactsQuery[] = [];
let running = 0;

/** Those in sight now; what was asked for and has left it since is not asked any more. */
export function wantThreadFacts(rows: readonly FactsQuery[]): void {
  queue = rows.filter(({ id, updatedAt }) => asOf.get(id) !== updatedAt);
  while (running < AT_ONCE && queue.length > 0) void work();
}

async function work(): Promise<void> {
  running += 1;
  for (let next = take(); next !== undefined; next = take()) {
    asOf.set(next.id, next.updatedAt);
    const facts = await factsOf(next.id);
    if (facts !== null) show(next.id, facts);
  }
  running -= 1;
}

let arrived: (readonly [string, ThreadFacts])[] = [];

/** What arrives before the next frame is drawn at once: each change draws the whole list. */
function show(id: string, facts: ThreadFacts): void {
  arrived.push([id, facts]);
  if (arrived.length > 1) return;
  requestAnimationFrame(() => {
    threadFacts.value = new Map([...threadFacts.peek(), ...arrived]);
    arrived = [];
  });
}

function take(): FactsQuery | undefined {
  const [next, ...rest] = queue;
  queue = rest;
  return next;
}

/** Null: it can't be told now. */
async function factsOf(id: string): Promise<ThreadFacts | null> {
  const [context, timeline] = await Promise.all([
    ask("GET /api/threads/{id}/context", { params: { id } }),
    ask("GET /api/threads/{id}/timeline", { params: { id } }),
  ]);
  if (context.kind === "failed") return null;
  const { requests } = timeline.kind === "ok" ? timeline.value : { requests: [] };
  const priced = requests.flatMap(({ cost }) => cost ?? []);
  return {
    total: context.value.total,
    window: context.value.window,
    cost: priced.length === 0 ? null : priced.reduce((sum, cost) => sum + cost, 0),
    model: requests.at(-1)?.model ?? null,
  };
}
