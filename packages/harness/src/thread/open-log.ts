/**
 * The log of an open thread: everything written goes through it, in turn and under the lease, on the log as it stands at
 * that moment. The lease is taken for each write and given back after it, or held for as long as some work goes on. Keeps
 * the conversation in step with a log that others may write to as well.
 */
import { setTimeout as wait } from "node:timers/promises";
import { type Head, parseHeader } from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import { heldText, type KeptLease, keepLease, withLease } from "../stores/leases.ts";
import type { AppendBatch, HeldLease, Lease } from "../stores/store.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { ThreadError } from "./thread-error.ts";
import type { Committed, RecordInput, ThreadDeps, Writer } from "./writer.ts";

/** What others have done to the log since: nothing, added to it, or changed what was there. */
export type Moved = "current" | "grown" | "reread";

/** Records, and what goes into the store with them. */
export interface Batch extends Pick<AppendBatch, "jobs" | "prompts" | "matches" | "flush"> {
  readonly inputs: readonly RecordInput[];
}

export interface OpenLog<M> {
  readonly conversation: Conversation<M>;
  /** Brings the conversation to where the log stands. Throws a `ThreadError` when the thread is gone. */
  catchUp(): Promise<Moved>;
  /**
   * All of a batch or none of it, made when its turn has come; returns the seqs. Throws a `ThreadError` when the thread
   * can't be had, is gone or was taken over. Never inside itself: it would wait for its own end.
   */
  write(make: (moved: Moved) => Batch | Promise<Batch>): Promise<readonly number[]>;
  /** Any other act on the thread, in turn and under the lease; the conversation then reads what it wrote. */
  act<T>(work: (writer: Writer) => Promise<T>): Promise<T>;
  /** Replaces bodies by others, for good. */
  erase(...args: Parameters<Conversation<M>["erase"]>): Promise<void>;
  /** Which message ids the log holds, and where: hidden messages, and a fork's shared ones, too. */
  ids(): Promise<ReadonlyMap<string, number>>;
  /** Whether words of it were erased. */
  erased(): Promise<boolean>;
  /** The conversation for a compactor: what it writes stands on the fold it was planned on, and `moved` hears how the log has. */
  onSameFold(moved: (how: Moved) => Promise<void>): Conversation<M>;
  /** From here on nobody else can write to it, until it is released. */
  hold(): Promise<"held" | HeldLease | { readonly kind: "missing" }>;
  /** Gives the lease back, if it is held: it is taken for each write then. */
  release(): Promise<void>;
}

export interface OpenLogOptions<M> {
  readonly deps: ThreadDeps;
  readonly id: string;
  readonly shape: Shape<M>;
  /** Taken for each write, held from now on, or one that the caller holds and gives back. */
  readonly lease: "per-write" | "held" | { readonly lease: Lease; readonly lost: AbortSignal };
  /** How long a write waits for a thread that somebody else holds. */
  readonly waitMs?: number;
  /** The run that writes, if one does. */
  readonly runId?: string | null;
  /** The same thread as it was opened earlier. */
  readonly before?: Conversation<M> | null;
}

/** A log that nobody else can write to is the only one that needn't be looked at again. */
export async function openLog<M>(
  options: OpenLogOptions<M>,
): Promise<{ readonly kind: "open"; readonly log: OpenLog<M> } | HeldLease | { readonly kind: "missing" }> {
  const leases = leasesOn(options);
  const held = options.lease === "held" ? await leases.hold() : "held";
  if (held !== "held") return held;
  const conversation = await openConversation(leases.writer, options.shape, options.before).catch(async (error) => {
    await leases.release();
    throw error;
  });
  if (conversation !== null) return { kind: "open", log: logOf(conversation, leases) };
  await leases.release();
  return { kind: "missing" };
}

/** For a copy in memory: there is nothing to hold. */
export function logInMemory<M>(deps: ThreadDeps, conversation: Conversation<M>): OpenLog<M> {
  const { id } = conversation.header;
  const lease = { threadId: id, owner: "", epoch: 0 };
  const { signal } = new AbortController();
  return logOf(conversation, leasesOn({ deps, id, lease: { lease, lost: signal } }));
}

function logOf<M>(conversation: Conversation<M>, leases: Leases): OpenLog<M> {
  const { id } = conversation.header;
  const { during, writer } = leases;
  const { store } = writer;
  const facts = factsOf(conversation, writer);
  /** Whether somebody may have written since it was read. */
  let stale = false;
  const catchUp = async (): Promise<Moved> => {
    if (leases.isHeld() && !stale) return "current";
    const moved = await conversation.catchUp();
    if (moved === "missing") return gone(id);
    stale = false;
    if (moved === "reread") facts.forget();
    return moved;
  };
  const seqsOf = async (committed: Committed): Promise<readonly number[]> => {
    if (committed.kind === "committed") return committed.seqs;
    if (committed.kind === "missing" || (await store.header(id)) === undefined) return gone(id);
    // Under the lease, right after catching up: only another holder can be in the way.
    const problem = `thread ${id} was taken over while it was written to: nothing was written, try again`;
    throw new ThreadError("lease-lost", problem);
  };
  return {
    conversation,
    catchUp,
    write: (make) =>
      during(async () => {
        const { inputs, ...also } = await make(await catchUp());
        return inputs.length === 0 ? [] : seqsOf(await conversation.commit(inputs, also));
      }),
    act: (work) =>
      during(async () => {
        stale = true;
        return work({ ...writer });
      }),
    async erase(bodies, inputs) {
      await during(async () => seqsOf(await conversation.erase(bodies, inputs)));
      facts.forget();
    },
    ids: facts.ids,
    async erased() {
      await catchUp();
      return facts.erased();
    },
    onSameFold: (moved) => ({
      ...conversation,
      commit(inputs, also) {
        const planned = conversation.head();
        return during(async () => {
          const how = await catchUp();
          await moved(how);
          const { version } = conversation.head();
          // Where words were erased, a summary may still hold them.
          if (how === "reread" || foldOf(planned) !== foldOf(conversation.head())) return { kind: "conflict", version };
          return conversation.commit(inputs, also);
        });
      },
    }),
    async hold() {
      const held = await leases.hold();
      stale = true;
      return held;
    },
    release: leases.release,
  };
}

/** What is read of the whole log once, and then only of what was added. */
function factsOf<M>({ head }: Conversation<M>, writer: Writer) {
  const { store, lease } = writer;
  let seqs = new Map<string, number>();
  let idsThrough = 0;
  let erased: boolean | null = null;
  return {
    async ids(): Promise<ReadonlyMap<string, number>> {
      const { version } = head();
      if (version > idsThrough) {
        const query = { range: [idsThrough + 1, version], kinds: ["message"], bodies: "none" } as const;
        for await (const { chained } of store.records(lease.threadId, query)) {
          const header = parseHeader(chained);
          if (header.kind === "message" && !seqs.has(header.id)) seqs.set(header.id, header.seq);
        }
        idsThrough = version;
      }
      return seqs;
    },
    async erased(): Promise<boolean> {
      erased ??= await hasErased(writer, head());
      return erased;
    },
    /** The log is another one than it was: words were erased, or something was taken back. */
    forget(): void {
      seqs = new Map();
      idsThrough = 0;
      erased = null;
    },
  };
}

async function hasErased({ store, lease }: Writer, { version }: Head): Promise<boolean> {
  for await (const { record } of store.records(lease.threadId, { range: [1, version], kinds: ["event"] }))
    if (record.kind === "event" && record.event.type === "redacted") return true;
  return false;
}

function foldOf({ compaction, hiddenThrough, prunes, undone }: Head): string {
  return JSON.stringify([compaction, hiddenThrough, prunes, undone]);
}

type Act = <T>(work: () => Promise<T>) => Promise<T>;

interface Leases extends Pick<OpenLog<unknown>, "hold" | "release"> {
  /** Appends with the lease that is held at that time. */
  readonly writer: Writer;
  readonly isHeld: () => boolean;
  readonly during: Act;
}

function leasesOn<M>(options: Omit<OpenLogOptions<M>, "shape">): Leases {
  const { deps, id, lease: given, waitMs = 0, runId = null } = options;
  const owner = deps.ids();
  let current: Lease = { threadId: id, owner, epoch: 0 };
  /** What is held beyond a write, whoever gives it back. */
  let held: Pick<KeptLease, "lease" | "lost"> | null = typeof given === "string" ? null : given;
  let own: KeptLease | null = null;
  const writer: Writer = {
    ...deps,
    runId,
    get lease() {
      return held?.lease ?? current;
    },
  };
  const perWrite = async <T>(work: () => Promise<T>): Promise<T> => {
    const until = deps.clock().getTime() + waitMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const leased = await withLease(deps.store, id, { owner }, (lease) => {
        current = lease;
        return work();
      });
      if (leased.kind === "done") return leased.value;
      if (leased.kind === "missing") return gone(id);
      if (deps.clock().getTime() + pause > until) return stillBusy(id, leased);
      await wait(pause);
    }
  };
  return {
    writer,
    isHeld: () => held !== null,
    during: inTurn((work) => {
      if (held === null) return perWrite(work);
      return held.lost.aborted ? takenOver(id) : work();
    }),
    async hold() {
      const kept = await keepLease(deps.store, id, { owner: deps.ids() });
      if (kept.kind !== "kept") return kept;
      held = kept;
      own = kept;
      return "held";
    },
    async release() {
      const kept = own;
      if (kept === null) return;
      held = null;
      own = null;
      await kept.release();
    },
  };
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

/** One after the other, in the order they were asked for. */
export function inTurn(act: Act): Act {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = before.then(() => act(work));
    before = mine.catch(() => {});
    return mine;
  };
}

function takenOver(threadId: string): never {
  throw new ThreadError("lease-lost", `thread ${threadId} was taken over by somebody else: open it again`);
}

function gone(threadId: string): never {
  throw new ThreadError("missing", `thread ${threadId} was deleted while it was open: open it again to begin it anew`);
}

function stillBusy(threadId: string, held: HeldLease): never {
  throw new ThreadError(
    "busy",
    `thread ${threadId} is held by somebody else${heldText(held)}: nothing was written, try again later or give a longer waitMs`,
  );
}
