/**
 * One run as the gateway knows it: its events so far, how it stands, how to stop it. It goes on whether or not anybody
 * reads. Followers on another instance read the same numbered events from the store (`published-run.ts`).
 */
import type { AgentEvent, AgentStream, RunEnd, RunResult } from "palimpsest/agent";
import { NO_USAGE } from "palimpsest/internal/models";
import { EventLog, type LoggedEvent } from "./event-log.ts";
import type { SeenRun } from "./seen-run.ts";
import { type Audience, tellable } from "./tellable.ts";

export interface StartedRunFacts {
  readonly id: string;
  readonly user: string;
  /** That it was asked on; a run that asks for an answer again is on a fork of it. */
  readonly thread: string;
  readonly model: string | null;
  readonly askedAt: Date;
}

export interface GatewayRunDeps {
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
