/**
 * The runs of all instances on one store, as this one sees them: tells of its own, finds those of others, hears what is asked
 * of its own. Woken over one connection where there is one; without it everything is looked at again in short steps.
 */

import type { ThreadDeps } from "palimpsest/session";
import type { HeldRun, Shared, Wakes } from "palimpsest/stores";
import { PublishedRun } from "./published-run.ts";
import { FOLLOWED_MS, findRemote } from "./remote-run.ts";
import type { GatewayRun, SeenRun } from "./run.ts";

export interface RunSharingDeps {
  readonly threadsOf: (userId: string) => ThreadDeps;
  readonly sharedOf: (userId: string) => Shared;
  /** What this instance is called. */
  readonly holder: string;
}

/** How long a run is this instance's without a word from it: as long as a lease on a thread. */
const TTL_MS = 30_000;
/** A run that has ended is told of for so long. */
const KEPT_MS = 5 * 60_000;
const SWEEP_MS = 60_000;
/** How often to poll: for a run's events, and for requests to our own runs. Less often where the store can notify. */
const LOOK = { events: 250, asked: 1000, events_woken: 2000, asked_woken: 10_000 };
/** Wake-ups are sent together, ten times a second at most. */
const WAKE_MS = 100;

/** For the ends of the last runs; what isn't told by then is found out when its lease ends. */
const CLOSING_MS = 5_000;

export class RunSharing {
  readonly #deps: RunSharingDeps;
  readonly #own = new Map<string, PublishedRun>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #told = new Set<string>();
  readonly #wakes: Wakes;
  readonly #listener: { stop(): Promise<void> } | null;
  #isTelling = false;
  #isClosed = false;

  constructor(deps: RunSharingDeps) {
    this.#deps = deps;
    const { wakes, runs } = deps.sharedOf("default");
    this.#wakes = wakes;
    this.#listener = wakes.listen((ids) => this.#hear(ids));
    this.#every(TTL_MS / 3, () => this.#renew());
    this.#every(this.#listener === null ? LOOK.asked : LOOK.asked_woken, () => this.#lookAtOwn(null));
    this.#every(SWEEP_MS, () => runs.sweep(KEPT_MS));
  }

  /** `streams`: the client reads it as it comes. */
  publish(run: GatewayRun, streams: boolean): void {
    const { sharedOf, holder } = this.#deps;
    const { id, user } = run.facts;
    const published = new PublishedRun(run, streams, {
      runs: sharedOf(user).runs,
      holder,
      ttlMs: TTL_MS,
      pause: (ms) => this.#pause(ms),
      wake: (told) => this.#wake(told),
    });
    this.#own.set(id, published);
    void published.done.finally(() => this.#own.delete(id));
  }

  find(userId: string, id: string): Promise<SeenRun | null> {
    const { sharedOf, threadsOf } = this.#deps;
    const look = this.#listener === null ? LOOK.events : LOOK.events_woken;
    return findRemote(userId, id, {
      runs: sharedOf(userId).runs,
      threads: threadsOf(userId),
      wait: (name) => this.#wait(name, look),
      wake: (name) => this.#wake(name),
    });
  }

  /** The run under way on a thread, on another instance. */
  async on(userId: string, threadId: string): Promise<SeenRun | null> {
    const id = await this.#deps.sharedOf(userId).runs.find({ threadId });
    return id === undefined || this.#own.has(id) ? null : this.find(userId, id);
  }

  /** Whether a reader on another instance follows a run of this one. */
  async isFollowed({ facts }: SeenRun): Promise<boolean> {
    const page = await this.#deps.sharedOf(facts.user).runs.read(facts.id, Number.MAX_SAFE_INTEGER);
    return (page?.followedMs ?? Number.POSITIVE_INFINITY) < FOLLOWED_MS;
  }

  async forget({ facts }: SeenRun): Promise<void> {
    await this.#deps.sharedOf(facts.user).runs.drop(facts.id);
  }

  async close(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const patience = setTimeout(resolve, CLOSING_MS);
    await Promise.race([Promise.all([...this.#own.values()].map(({ done }) => done)), late]);
    clearTimeout(patience);
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#hear(null);
    await this.#listener?.stop();
  }

  /** One at a time; what fails is tried again with the next. */
  #every(ms: number, act: () => Promise<unknown>): void {
    const next = () => {
      const timer = setTimeout(async () => {
        this.#timers.delete(timer);
        await act().catch(() => {});
        if (!this.#isClosed) next();
      }, ms);
      timer.unref();
      this.#timers.add(timer);
    };
    next();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((wake) => setTimeout(wake, ms).unref());
  }

  async #renew(): Promise<void> {
    if (this.#own.size === 0) return;
    const held = new Set(await this.#lookAtOwn(TTL_MS));
    // What the database has forgotten is told again; what others have closed stays closed.
    for (const [id, published] of this.#own) if (!held.has(id)) published.putAgain();
  }

  async #lookAtOwn(ttlMs: number | null): Promise<readonly string[]> {
    if (this.#own.size === 0) return [];
    const { sharedOf, holder } = this.#deps;
    const held: readonly HeldRun[] = await sharedOf("default").runs.held(holder, ttlMs);
    for (const { id, cancel, follow } of held) {
      const published = this.#own.get(id);
      if (follow) published?.follow();
      if (cancel) published?.run.stop("caller");
    }
    return held.map(({ id }) => id);
  }

  #hear(ids: readonly string[] | null): void {
    const woken = ids ?? [...this.#waiting.keys()];
    for (const id of woken) for (const wake of this.#waiting.get(id) ?? []) wake();
    if (ids === null || ids.some((id) => this.#own.has(id))) void this.#lookAtOwn(null).catch(() => {});
  }

  async #wait(id: string, ms: number): Promise<void> {
    const waiters = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiters);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiters.add(resolve);
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    waiters.delete(resolve);
    if (waiters.size === 0) this.#waiting.delete(id);
  }

  #wake(id: string): void {
    // No listeners here: other processes poll.
    if (this.#listener === null) return;
    this.#told.add(id);
    if (this.#isTelling) return;
    this.#isTelling = true;
    void this.#pause(WAKE_MS).then(() => {
      const ids = [...this.#told];
      this.#told.clear();
      this.#isTelling = false;
      void this.#wakes.tell(ids).catch(() => {});
    });
  }
}
