/**
 * The runs of this process: one at a time on a thread, the others behind it as their callers asked; those that have ended
 * for a while, so that a reader may still come back. Which run may begin is `admitRun`.
 */
import type { Agent, AgentEvent, AgentStream, RunInput } from "palimpsest";
import type { After } from "../http/event-stream.ts";
import { problemOf } from "../http/problem.ts";
import type { Agents } from "./home-runs.ts";
import { type Audience, GatewayRun, type SeenRun } from "./run.ts";
import type { RunSharing } from "./run-sharing.ts";

export interface RunOrder {
  readonly user: string;
  readonly thread: string;
  readonly model: string | null;
  readonly multitask: Multitask;
  /** Whether the client reads it as it comes. */
  readonly streams: boolean;
  /** Told of everything that happens. */
  readonly meter: { event(event: AgentEvent): void };
  readonly audience?: Audience | undefined;
  /** Starts it; what it is given goes to the agent as it is. */
  begin(agent: Agent, own: OwnInput): Promise<AgentStream> | AgentStream;
}

type OwnInput = Pick<RunInput, "runId" | "userId" | "signal" | "waitMs"> & { readonly threadId: string };

type Started = { readonly kind: "run"; readonly run: GatewayRun } | Extract<RunAdmission, { kind: "refused" }>;

export interface RunsDeps {
  readonly agents: Agents;
  readonly threads: ForkableThreads;
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly after: After;
  /** How many runs one user may have at once; null: any number. */
  readonly most: () => Promise<number | null>;
  readonly onEnd: (run: GatewayRun) => void;
  /** Null: this is the only instance. */
  readonly sharing: RunSharing | null;
}

interface ForkableThreads {
  /** 0: there is no such thread. */
  version(userId: string, threadId: string): Promise<number>;
  /** The fork's id. */
  fork(userId: string, threadId: string, at: number): Promise<string>;
}

interface Lane {
  active: GatewayRun | null;
  readonly waiting: { readonly run: GatewayRun; readonly order: RunOrder }[];
}

export class Runs {
  readonly #deps: RunsDeps;
  readonly #lanes = new Map<string, Lane>();
  readonly #kept: KeptRuns;
  /** How many, by user. */
  readonly #underWay = new Map<string, number>();
  #server: "open" | "closing" = "open";

  constructor(deps: RunsDeps) {
    this.#deps = deps;
    this.#kept = new KeptRuns(deps.clock);
  }

  /** Unless it waits for others, it has started when this answers, or could not. */
  async start(order: RunOrder): Promise<Started> {
    const { user, thread, model, multitask, meter, audience } = order;
    const most = await this.#deps.most();
    const key = keyOf(user, thread);
    const lane = this.#lanes.get(key) ?? { active: null, waiting: [] };
    const admission = admitRun(this.#facts(lane, user, most), multitask);
    if (admission.kind === "refused") return admission;
    if (admission.kind === "fork") return this.#startOnFork(order, lane.active);
    this.#lanes.set(key, lane);
    const { ids, clock } = this.#deps;
    const run = new GatewayRun({ id: ids(), user, thread, model, askedAt: clock() }, { clock, meter, audience });
    this.#kept.add(run);
    this.#count(run);
    if (multitask === "interrupt" && lane.active === null) void this.#interruptElsewhere(user, thread);
    this.#deps.sharing?.publish(run, order.streams);
    if (admission.kind === "interrupt") lane.active?.stop("caller");
    lane.waiting[admission.kind === "interrupt" ? "unshift" : "push"]({ run, order });
    this.#advance(key, lane);
    if (multitask === "wait") return { kind: "run", run };
    const started = await run.started;
    if (started.kind !== "started") await run.ended;
    // Another process holds the thread.
    if (started.kind === "busy" && multitask === "fork") return this.#startOnFork(order, null);
    return { kind: "run", run };
  }

  /** Of this user, on whichever instance; another's is not there. */
  async find(userId: string, id: string): Promise<SeenRun | null> {
    const run = this.#kept.find(id);
    if (run?.facts.user === userId) return run;
    return (await this.#deps.sharing?.find(userId, id)) ?? null;
  }

  /** Its words were erased and can't be read here either. */
  async forget(run: SeenRun): Promise<void> {
    if (run instanceof GatewayRun) this.#kept.remove(run);
    await this.#deps.sharing?.forget(run);
  }

  /** The same on any other instance. */
  async elsewhere(userId: string, threadId: string): Promise<SeenRun | null> {
    return (await this.#deps.sharing?.on(userId, threadId)) ?? null;
  }

  /** Whether a run of this instance is read on another one. */
  async isReadElsewhere(run: GatewayRun): Promise<boolean> {
    return (await this.#deps.sharing?.isFollowed(run)) ?? false;
  }

  /** The one under way here that was asked for on this thread. */
  on(userId: string, threadId: string): GatewayRun | null {
    return this.#lanes.get(keyOf(userId, threadId))?.active ?? null;
  }

  waiting(): number {
    const lanes = [...this.#lanes.values()];
    return lanes.flatMap(({ waiting }) => waiting).filter(({ run }) => run.status === "waiting").length;
  }

  /** Nothing new begins; what doesn't end within the time is stopped. */
  async close(graceMs: number): Promise<void> {
    this.#server = "closing";
    const { agents, after } = this.#deps;
    const lanes = [...this.#lanes.values()];
    for (const { run } of lanes.flatMap(({ waiting }) => waiting)) run.stop("shutdown");
    const active = lanes.flatMap((lane) => lane.active ?? []);
    await endedWithin(active, graceMs, after);
    for (const run of active) run.stop("shutdown");
    await agents.close(STOPPING_MS);
    await endedWithin(active, STOPPING_MS, after);
    await this.#deps.sharing?.close();
  }

  /** What can't be asked ends by itself, or holds the thread until its lease does. */
  async #interruptElsewhere(userId: string, threadId: string): Promise<void> {
    const run = await this.elsewhere(userId, threadId).catch(() => null);
    await run?.stop("caller");
  }

  #facts({ active, waiting }: Lane, userId: string, most: number | null): LaneFacts {
    return {
      server: this.#server,
      running: active !== null,
      waiting: waiting.filter(({ run }) => run.status === "waiting").length,
      runs: this.#underWay.get(userId) ?? 0,
      most,
    };
  }

  /** A run without readers counts like any other. */
  #count(run: GatewayRun): void {
    const { user } = run.facts;
    const add = (more: number) => {
      const count = (this.#underWay.get(user) ?? 0) + more;
      if (count === 0) this.#underWay.delete(user);
      else this.#underWay.set(user, count);
    };
    add(1);
    void run.ended.then(() => add(-1));
  }

  async #startOnFork(order: RunOrder, active: GatewayRun | null): Promise<Started> {
    await active?.started;
    const { user, thread } = order;
    const { threads } = this.#deps;
    const at = active?.base ?? (await threads.version(user, thread));
    return this.start({ ...order, thread: await threads.fork(user, thread, at) });
  }

  #advance(key: string, lane: Lane): void {
    if (lane.active !== null) return;
    const next = lane.waiting.shift();
    if (next === undefined) return void this.#lanes.delete(key);
    const { run } = next;
    lane.active = run;
    void this.#carryOut(next).finally(() => {
      lane.active = null;
      this.#kept.prune();
      this.#deps.onEnd(run);
      this.#advance(key, lane);
    });
  }

  async #carryOut({ run, order }: Lane["waiting"][number]): Promise<void> {
    const { user: userId, thread: threadId, model, multitask, begin } = order;
    try {
      const { agent } = await this.#deps.agents.get(model);
      run.base = await this.#deps.threads.version(userId, threadId);
      if (run.status === "ended") return;
      const waitMs = multitask === "wait" || multitask === "interrupt" ? LEASE_WAIT_MS : undefined;
      const { signal } = run;
      await run.carryOut(await begin(agent, { runId: run.facts.id, userId, threadId, signal, waitMs }));
    } catch (error) {
      const { code, message } = problemOf(error);
      run.endUnstarted({ kind: "failed", code: code as "failed", message }, error);
    }
  }
}

/** How long to wait for a thread that another process holds: a little longer than a lease that isn't renewed. */
const LEASE_WAIT_MS = 45_000;
/** What a run that was stopped has to write down what was said so far. */
const STOPPING_MS = 5_000;

function keyOf(userId: string, threadId: string): string {
  return JSON.stringify([userId, threadId]);
}

async function endedWithin(runs: readonly GatewayRun[], ms: number, after: After): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stop = after(ms, resolve);
  await Promise.race([Promise.all(runs.map(({ ended }) => ended)), late]).finally(stop);
}

/* Decides what to do with a new run of a thread that may already have one. Pure. */

/**
 * `reject`: refused while another is under way. `wait`: after it, in the order of asking. `fork`: on a fork of the thread
 * as it was before the other began. `interrupt`: the other is stopped first.
 */
export type Multitask = "reject" | "wait" | "fork" | "interrupt";

export interface LaneFacts {
  readonly server: "open" | "closing";
  readonly running: boolean;
  /** Runs that wait for this thread. */
  readonly waiting: number;
  /** Runs of the user that are under way or wait, on all threads. */
  readonly runs: number;
  /** How many of those there may be; null: any number. */
  readonly most: number | null;
}

export type RunAdmission =
  | { readonly kind: "start" | "wait" | "fork" | "interrupt" }
  | { readonly kind: "refused"; readonly reason: RunRefusal };

export type RunRefusal = "busy" | "queue-full" | "limited" | "closing";

/** Who would wait behind so many is better told. */
export const MOST_WAITING = 16;

export function admitRun(facts: LaneFacts, multitask: Multitask): RunAdmission {
  const { server, running, waiting, runs, most } = facts;
  if (server === "closing") return { kind: "refused", reason: "closing" };
  const replaced = multitask === "interrupt" && running ? 1 : 0;
  if (most !== null && runs - replaced >= most) return { kind: "refused", reason: "limited" };
  if (!running && waiting === 0) return { kind: "start" };
  if (multitask === "reject") return { kind: "refused", reason: "busy" };
  if (multitask === "wait" && waiting >= MOST_WAITING) return { kind: "refused", reason: "queue-full" };
  return { kind: multitask };
}

/* Runs by their id: those under way, and of those that have ended the newest, as long as they are few, small and fresh. */

const KEPT_MS = 5 * 60_000;
const MOST_KEPT = 500;
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

export class KeptRuns {
  readonly #runs = new Map<string, GatewayRun>();
  readonly #clock: () => Date;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  add(run: GatewayRun): void {
    this.#runs.set(run.facts.id, run);
  }

  remove(run: GatewayRun): void {
    this.#runs.delete(run.facts.id);
  }

  find(id: string): GatewayRun | null {
    this.prune();
    return this.#runs.get(id) ?? null;
  }

  prune(): void {
    const now = this.#clock().getTime();
    let bytes = 0;
    let count = 0;
    for (const run of [...this.#runs.values()].reverse()) {
      if (run.endedAt === null) continue;
      bytes += run.log.bytes;
      count += 1;
      if (count > MOST_KEPT || bytes > MOST_KEPT_BYTES || now - run.endedAt.getTime() > KEPT_MS) this.remove(run);
    }
  }
}
