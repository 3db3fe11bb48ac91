/**
 * One run as the gateway knows it: its events so far, how it stands, how to stop it. It goes on with or without
 * readers. Followers on another instance read the same numbered events from the store (`published-run.ts`).
 */
import type { AgentEvent, AgentStream, RunEnd, RunResult } from "palimpsest";
import { NO_USAGE } from "palimpsest/internal/models";
import { ProblemError } from "../http/problem.ts";

export interface StartedRunFacts {
  readonly id: string;
  readonly user: string;
  /** That it was asked on; a run that asks for an answer again is on a fork of it. */
  readonly thread: string;
  readonly model: string | null;
  readonly askedAt: Date;
}

interface GatewayRunDeps {
  readonly clock: () => Date;
  readonly meter: { event(event: AgentEvent): void };
  /** What of its failures may be told; a user's own by default. */
  readonly audience?: Audience | undefined;
}

/** `shutdown`: the server ends, and the run with it. */
export type StoppedBy = "caller" | "shutdown";

export class GatewayRun implements SeenRun {
  readonly facts: StartedRunFacts;
  readonly log = new EventLog();
  readonly audience: Audience;
  status: "waiting" | "running" | "ended" = "waiting";
  /** Version of the thread before the run began: where a fork of it would share. */
  base: number | null = null;
  stoppedBy: StoppedBy | null = null;
  /** Whether something of it is in the thread. */
  wrote = false;
  endedAt: Date | null = null;
  result: RunResult | null = null;
  /** Whatever ended it before the agent took it. */
  error: unknown = null;
  /** Not after its end: it holds everything that was said. */
  stream: AgentStream | null = null;
  readonly #started = Promise.withResolvers<{ readonly kind: "started" } | RunEnd>();
  readonly #ended = Promise.withResolvers<RunResult>();
  readonly #stop = new AbortController();
  readonly #clock: () => Date;
  readonly #meter: GatewayRunDeps["meter"];
  #more = Promise.withResolvers<void>();

  constructor(facts: StartedRunFacts, { clock, meter, audience = "user" }: GatewayRunDeps) {
    this.audience = audience;
    this.facts = facts;
    this.#clock = clock;
    this.#meter = meter;
  }

  get thread(): string {
    return this.result?.threadId ?? this.stream?.threadId ?? this.facts.thread;
  }

  get kept(): SeenRun["kept"] {
    return { first: this.log.first, last: this.log.last };
  }

  get failure(): unknown {
    return this.result?.error ?? this.error;
  }

  /** Known before the first word, as `AgentStream.started`. */
  get started(): Promise<{ readonly kind: "started" } | RunEnd> {
    return this.#started.promise;
  }

  get ended(): Promise<RunResult> {
    return this.#ended.promise;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  stop(by: StoppedBy): void {
    if (this.status === "ended") return;
    this.stoppedBy ??= by;
    this.#stop.abort();
    if (this.status === "waiting") this.endUnstarted({ kind: "aborted" });
  }

  async carryOut(stream: AgentStream): Promise<void> {
    this.stream = stream;
    this.status = "running";
    void stream.started.then(this.#started.resolve);
    for await (const event of stream) this.#tell(event);
    this.#end(await stream.result);
  }

  /** The agent never had it. */
  endUnstarted(end: RunEnd, error: unknown = null): void {
    if (this.status === "ended") return;
    this.error = error;
    const { id: runId, thread: threadId } = this.facts;
    this.#tell({ type: "run-start", threadId, runId });
    this.#tell({ type: "run-end", end });
    const nothing = { text: "", output: null, steps: 0, usage: NO_USAGE };
    this.#end({ threadId, runId, end, error: null, ...nothing });
  }

  /** What comes behind this number, as it comes, in slices. Ends with the run, or where a reader is too far behind. */
  async *events(after: number): AsyncGenerator<readonly LoggedEvent[], "ended" | "gone"> {
    for (let seen = after; ; ) {
      const slice = this.log.after(seen, SLICE);
      if (slice.kind !== "events") return "gone";
      const last = slice.events.at(-1);
      if (last !== undefined) {
        yield slice.events;
        seen = last.id;
      } else if (this.status === "ended") return "ended";
      else await this.#more.promise;
    }
  }

  /** Resolves with the next event, or with the end. */
  async more(): Promise<void> {
    if (this.status !== "ended") await this.#more.promise;
  }

  #tell(event: AgentEvent): void {
    this.#meter.event(event);
    if (event.type === "message-append") this.wrote = true;
    this.log.append(JSON.stringify(tellable(event, this.audience)));
    this.#wake();
  }

  #end(result: RunResult): void {
    this.status = "ended";
    this.stream = null;
    this.result = result;
    this.endedAt = this.#clock();
    this.#started.resolve(result.end);
    this.#ended.resolve(result);
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#more;
    this.#more = Promise.withResolvers<void>();
    waiting.resolve();
  }
}

/** Characters that one reader is given at once. */
const SLICE = 16_384;

/* A run as its readers see it, wherever it is carried out. */

export interface SeenRun {
  readonly facts: StartedRunFacts;
  readonly thread: string;
  readonly status: "waiting" | "running" | "ended";
  /** Version of the thread before the run began; null: it isn't known. */
  readonly base: number | null;
  /** Whether something of it is in the thread. */
  readonly wrote: boolean;
  readonly endedAt: Date | null;
  readonly result: RunResult | null;
  /** What was thrown by a run that failed, or stands for it. */
  readonly failure: unknown;
  readonly stoppedBy: StoppedBy | null;
  /** The numbers of the oldest event that is kept and of the newest; 0: none yet. */
  readonly kept: { readonly first: number; readonly last: number };
  /** What comes behind this number, as it comes. `lost`: its process is gone, and no more is known. */
  events(after: number): AsyncGenerator<readonly LoggedEvent[], "ended" | "gone" | "lost">;
  /** It may take a while until a run of another instance has heard of it. */
  stop(by: StoppedBy): Promise<void> | void;
}

/** As it was thrown, so that the log has its words. */
export function failureOf({ failure }: Pick<SeenRun, "failure">): unknown {
  if (failure !== null) return failure;
  const why = "it was stopped before it began: another message came, or the server ends";
  return new ProblemError(409, "interrupted", why);
}

/*
 * What a user may be told of an event. What went wrong with a provider or the store names addresses and files of the
 * server, so only the operator is told those words. Pure.
 */

export type Audience = "operator" | "user";

export function tellable(event: AgentEvent, audience: Audience): AgentEvent {
  if (audience === "operator") return event;
  switch (event.type) {
    case "run-end":
      if (event.end.kind !== "failed" || CLEAR.has(event.end.code)) return event;
      return { ...event, end: { ...event.end, message: HIDDEN } };
    case "model-retry":
    case "model-fallback":
    case "memory-failed":
      return { ...event, reason: HIDDEN };
    default:
      return event;
  }
}

/** Codes whose words are about what the user asked for. */
const CLEAR: ReadonlySet<string> = new Set([
  "empty-prompt",
  "nothing-to-answer",
  "bad-message",
  "no-message",
  "thread-exists",
  "bad-thread-id",
  "busy",
  "lease-lost",
  "answer-too-long",
  "too-long",
  "floor-exceeds-window",
  "loop",
  "closed",
]);

const HIDDEN = "something failed here; the server's log has it";

/**
 * The events of one run as JSON texts, numbered from 1 without gaps, for readers that come late or come back. It holds so
 * many bytes at most: the oldest go first, and a reader that still needs them is told so. Pure.
 */
export class EventLog {
  readonly #most: number;
  #events: string[] = [];
  /** How many of them at the front are gone already. */
  #gone = 0;
  /** The number of the first that is kept. */
  #first = 1;
  #bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#most = mostBytes;
  }

  /** The number of the last event; 0 before the first. */
  get last(): number {
    return this.#first + this.#events.length - this.#gone - 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the oldest that is kept. */
  get first(): number {
    return this.#first;
  }

  /** Characters behind this number. */
  charsAfter(id: number): number {
    let chars = 0;
    for (let next = Math.max(id + 1, this.#first); next <= this.last; next += 1)
      chars += this.#events[this.#gone + next - this.#first]!.length;
    return chars;
  }

  append(event: string): void {
    this.#events.push(event);
    this.#bytes += sizeOf(event);
    // The newest stays, however large it is: clients that read along must see it.
    while (this.#bytes > this.#most && this.last > this.#first) this.#dropFirst();
  }

  /** What comes behind this number, up to about `chars` characters and one event at least. */
  after(id: number, chars = Number.POSITIVE_INFINITY): LogSlice {
    if (id > this.last) return { kind: "ahead", last: this.last };
    if (id < this.#first - 1) return { kind: "gone", first: this.#first };
    const events: LoggedEvent[] = [];
    let size = 0;
    for (let next = id + 1; next <= this.last && (events.length === 0 || size < chars); next += 1) {
      const data = this.#events[this.#gone + next - this.#first]!;
      events.push({ id: next, data });
      size += data.length;
    }
    return { kind: "events", events };
  }

  #dropFirst(): void {
    this.#bytes -= sizeOf(this.#events[this.#gone]!);
    this.#events[this.#gone] = "";
    this.#gone += 1;
    this.#first += 1;
    // Rarely, so that dropping costs the same for each.
    if (this.#gone * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#gone);
    this.#gone = 0;
  }
}

export interface LoggedEvent {
  readonly id: number;
  readonly data: string;
}

export type LogSlice =
  | { readonly kind: "events"; readonly events: readonly LoggedEvent[] }
  /** The reader is too far behind: `first` is the oldest that is kept. */
  | { readonly kind: "gone"; readonly first: number }
  /** No client can have seen that event yet. */
  | { readonly kind: "ahead"; readonly last: number };

/** Some hundred thousand words, or a few very large tool outputs. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A string costs its characters, and something for itself. */
function sizeOf(event: string): number {
  return event.length + 32;
}

/** `17`, or `run:17`; null: it is no event of this run. */
export function readEventId(text: string, run: string): number | null {
  const digits = text.startsWith(`${run}:`) ? text.slice(run.length + 1) : text;
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}
