/**
 * What several processes on one store tell each other beside the log: which runs are under way and what they have said,
 * how much of its limits a key has used, which windows providers have stated. None of it is kept for long, and none of it
 * is needed to read a thread: what it loses in a crash of the database is told again by the instances that are left.
 */
export interface Shared {
  /** Of the store's user, where one user's are meant. */
  readonly runs: SharedRuns;
  readonly limits: SharedLimits;
  readonly wakes: Wakes;
}

/** A run is its holder's until the lease ends, by the database's clock. Events are numbered from 1. */
export interface SharedRuns {
  /** `taken`: a live run for the same request has that id. */
  put(run: NewSharedRun): Promise<{ readonly kind: "put" } | { readonly kind: "taken"; readonly id: string }>;
  /** `lost`: somebody has closed it. */
  write(id: string, holder: string, batch: RunBatch): Promise<"written" | "lost">;
  /** Without a holder: for a run that is dead. Its last events, if any, come with it. */
  end(id: string, end: RunClosing): Promise<"ended" | "lost">;
  /** How it stands, and a few batches behind this event. */
  read(id: string, after: number): Promise<RunPage | undefined>;
  /** The id of the live run on a thread, or for a request. */
  find(by: { readonly threadId: string } | { readonly request: string }): Promise<string | undefined>;
  /** Who follows says it again and again. */
  ask(id: string, what: "cancel" | "follow"): Promise<"asked" | "missing">;
  drop(id: string): Promise<void>;
  /** All that this holder has under way, of all users; with a time its leases are renewed. */
  held(holder: string, ttlMs: number | null): Promise<readonly HeldRun[]>;
  /** Forgets those that ended so long ago, of all users. */
  sweep(keptMs: number): Promise<void>;
}

export interface NewSharedRun {
  readonly id: string;
  readonly threadId: string;
  readonly model: string | null;
  /** A hash of what was asked; of those that are under way there is one of each. */
  readonly request: string | null;
  readonly holder: string;
  readonly ttlMs: number;
}

/** Whole events, each one line. */
export interface RunBatch {
  /** The number of the first of them. */
  readonly first: number;
  readonly events: readonly string[];
}

export interface RunClosing {
  readonly holder: string | null;
  readonly batch: RunBatch | null;
  /** JSON: how it ended. */
  readonly outcome: string;
}

export interface RunPage {
  readonly threadId: string;
  readonly model: string | null;
  /** ISO 8601, as all times here. */
  readonly askedAt: string;
  readonly endedAt: string | null;
  /** `dead`: its lease was not renewed. */
  readonly state: "live" | "dead" | "ended";
  readonly outcome: string | null;
  /** How long ago another instance said that it follows it; null: none has. */
  readonly followedMs: number | null;
  /** The number of the newest event; 0: none yet. */
  readonly last: number;
  /** The number of the oldest that is kept. */
  readonly first: number;
  readonly batches: readonly RunBatch[];
}

export interface HeldRun {
  readonly userId: string;
  readonly id: string;
  readonly cancel: boolean;
  readonly follow: boolean;
}

export interface SharedLimits {
  /** Says that this process is there; how many gateways are. */
  beat(instance: string, kind: "gateway" | "worker"): Promise<number>;
  /** Books what was used here since the last time; what stands on each account now, wherever it was used. */
  settle(instance: string, uses: readonly AccountUse[]): Promise<readonly AccountState[]>;
  /** Windows that providers have stated, by their endpoint; milliseconds since 1970. */
  windows(): Promise<readonly StatedWindow[]>;
  putWindow(window: StatedWindow): Promise<void>;
  dropWindow(endpoint: string): Promise<void>;
}

/** Times are how long an even pace takes for what was asked. */
export interface AccountUse {
  readonly account: string;
  readonly requestsMs: number;
  readonly tokensMs: number;
  /** Under way here now. */
  readonly running: number;
}

export interface AccountState extends AccountUse {
  /** Under way in other processes. */
  readonly running: number;
}

export interface StatedWindow {
  readonly endpoint: string;
  readonly tokens: number;
  readonly learnedAt: number;
}

/** Names of runs that have something new, for who waits for them. Nothing depends on one arriving. */
export interface Wakes {
  tell(ids: readonly string[]): Promise<void>;
  /** Null: this store has no connection to listen on. `ids` is null where some may have been missed. */
  listen(hear: (ids: readonly string[] | null) => void): { stop(): Promise<void> } | null;
}
