/**
 * All threads of the caller's as one signal, live: read page by page once, then kept in step by the stream of changes. The
 * browser asks for the stream again when it breaks; until then the page says that the gateway is out of reach.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ThreadRowText } from "../text/thread-row.ts";
import { type ApiOutcome, type ApiProblem, type AskAnswer, access, ask } from "./ask.ts";

export const threads = signal<ReadonlyMap<string, ThreadRowText>>(new Map());

/** Whether all that there are have been read. */
export const isEveryThread = signal(false);

export const threadsProblem = signal<ApiProblem | null>(null);

let stream: EventSource | null = null;

/** A second call while it follows changes nothing. */
export function followThreads(): void {
  if (stream !== null) return;
  stream = new EventSource("/api/changes");
  stream.onopen = () => {
    access.value = "open";
    void readAll();
  };
  stream.onmessage = ({ data }) => take(JSON.parse(data) as ThreadChange);
  stream.onerror = () => {
    const isOver = stream?.readyState === EventSource.CLOSED;
    if (isOver) stream = null;
    // It says why: a key that is needed, or a gateway that doesn't answer.
    void ask("GET /api/user").then((outcome) => {
      if (isOver && outcome.kind === "ok") setTimeout(followThreads, 3000);
      if (isOver && access.value === "away") setTimeout(followThreads, 3000);
    });
  };
}

/** Acts when the thread has changed since it was first seen here. */
export function useThreadChange(threadId: string, act: () => void): void {
  const at = threads.value.get(threadId)?.updatedAt;
  const known = useRef(at);
  useEffect(() => {
    if (known.current !== undefined && at !== undefined && at !== known.current) act();
    known.current = at ?? known.current;
  }, [at]);
}

interface ThreadChange {
  readonly threads: readonly ThreadRowText[];
  readonly gone: readonly string[];
}

function take({ threads: changed, gone }: ThreadChange): void {
  if (changed.length === 0 && gone.length === 0) return;
  const next = new Map(threads.peek());
  for (const row of changed) next.set(row.id, named(row));
  for (const id of gone) next.delete(id);
  threads.value = next;
}

const names = new Map<string, string>();

/** What a new thread is called until its first answer gives it a title. */
export function nameForNow(id: string, name: string): void {
  names.set(id, name);
  const row = threads.peek().get(id);
  if (row !== undefined) take({ threads: [row], gone: [] });
}

function named(row: ThreadRowText): ThreadRowText {
  return { ...row, title: row.title ?? names.get(row.id) ?? null };
}

/** What was acted on here is known at once. */
export function forgetThread(id: string): void {
  take({ threads: [], gone: [id] });
}

async function readAll(): Promise<void> {
  const all = new Map<string, ThreadRowText>();
  let after: string | null = null;
  do {
    const outcome: ApiOutcome<AskAnswer<"GET /api/threads">> = await ask("GET /api/threads", {
      query: { limit: 500, ...(after !== null && { after }) },
    });
    if (outcome.kind === "failed") {
      threadsProblem.value = outcome.problem;
      return;
    }
    for (const row of outcome.value.threads)
      all.set(row.id, named({ ...row, run: threads.peek().get(row.id)?.run ?? null }));
    if (all.size <= 500) threads.value = new Map(all);
    after = outcome.value.next;
  } while (after !== null);
  threads.value = all;
  threadsProblem.value = null;
  isEveryThread.value = true;
}
