/**
 * How an open thread writes to its log: in turn and under the lease, on the log as it stands at that moment. The lease is
 * taken for each write and given back after it, or held for as long as some work goes on. Keeps the conversation in step
 * with a log that others may write to as well.
 */
import { setTimeout as wait } from "node:timers/promises";
import { PalimpsestError } from "@palimpsest/core/errors";
import { readMessage } from "@palimpsest/core/internal/message";
import { type Head, type MessageRecord, type Origin, parseHeader, type ViewOptions } from "@palimpsest/core/log";
import type { Dialect, Role, Shape } from "@palimpsest/core/message";
import { jsonSteps } from "../long-work.ts";
import { type ClaimedLease, heldText, type KeptLease, keepLease, withLease } from "../stores/leases.ts";
import type { AppendBatch, HeldLease, Lease } from "../stores/store.ts";
import type { Conversation } from "./conversation.ts";
import type { OpenSizer } from "./live-prompt.ts";
import type { Committed, RecordInput, ThreadDeps, Writer } from "./writer.ts";

/** What others have done to the log since: nothing, added to it, or changed what was there. */
export type Moved = "current" | "grown" | "reread";

/** Records, and what goes into the store with them. */
export interface Batch extends Pick<AppendBatch, "jobs" | "prompts" | "matches" | "flush" | "leaseAfter"> {
  readonly inputs: readonly RecordInput[];
}

/** Which thread is opened, how it is read, and under which lease it is written to. */
export interface ThreadPlace<M> {
  readonly deps: ThreadDeps;
  readonly id: string;
  readonly shape: Shape<M>;
  /** Taken for each write, held from now on, or one that the caller holds and gives back. */
  readonly lease: "per-write" | "held" | { readonly lease: Lease; readonly lost: AbortSignal } | ClaimedLease;
  /** How long a write waits for a thread that somebody else holds. */
  readonly waitMs?: number;
  /** The run that writes, if one does. */
  readonly runId?: string | null;
  /** The same thread as it was left earlier. */
  readonly before?: LeftThread<M> | null;
  readonly times?: ViewOptions<M>["times"];
}

/** What an open thread was left with, for whoever opens it next. */
export interface LeftThread<M> {
  readonly conversation: Conversation<M>;
  readonly sized: OpenSizer<M>;
}

/**
 * What an open thread does with its log. `moved` hears when others have added to it or changed what was there. A log that
 * nobody else can write to is the only one that needn't be looked at again.
 */
export function openLog<M>(conversation: Conversation<M>, leases: ThreadLeases, moved: () => Promise<void>) {
  const { id } = conversation.header;
  const { during, writer } = leases;
  const { store } = writer;
  const facts = factsOf(conversation, writer);
  /** Whether somebody may have written since it was read. */
  let stale = false;
  /** Throws a `ThreadError` when the thread is gone. */
  const catchUp = async (): Promise<Moved> => {
    if (leases.isHeld() && !stale) return "current";
    const how = await conversation.catchUp();
    if (how === "missing") return gone(id);
    stale = false;
    if (how === "reread") facts.forget();
    if (how !== "current") await moved();
    return how;
  };
  const seqsOf = async (committed: Committed): Promise<readonly number[]> => {
    if (committed.kind === "committed") return committed.seqs;
    if (committed.kind === "missing" || (await store.header(id)) === undefined) return gone(id);
    // Under the lease, right after catching up: only another holder can be in the way.
    const problem = `thread ${id} was taken over while it was written to: nothing was written, try again`;
    throw new ThreadError("lease-lost", problem);
  };
  /** What a compactor writes stands on the fold that it was planned on. */
  const commit: Conversation<M>["commit"] = (inputs, also) => {
    const planned = conversation.head();
    return during(async () => {
      const how = await catchUp();
      const { version } = conversation.head();
      // Where words were erased, a summary may still hold them.
      if (how === "reread" || foldOf(planned) !== foldOf(conversation.head())) return { kind: "conflict", version };
      return conversation.commit(inputs, also);
    });
  };
  return {
    catchUp,
    /** For a compactor. */
    onSameFold: { ...conversation, commit },
    ids: facts.ids,
    erased: facts.erased,
    write: (make: () => Batch | Promise<Batch>): Promise<readonly number[]> =>
      during(async () => {
        await catchUp();
        const { inputs, ...also } = await make();
        return inputs.length === 0 ? [] : seqsOf(await conversation.commit(inputs, also));
      }),
    act: <T>(work: (writer: Writer) => Promise<T>): Promise<T> =>
      during(async () => {
        stale = true;
        return work({ ...writer });
      }),
    async erase(...[bodies, inputs]: Parameters<Conversation<M>["erase"]>): Promise<void> {
      await during(async () => seqsOf(await conversation.erase(bodies, inputs)));
      facts.forget();
    },
    async hold() {
      const held = await leases.hold();
      stale = true;
      return held;
    },
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

type LogAct = <T>(work: () => Promise<T>) => Promise<T>;

export type ThreadLeases = ReturnType<typeof openLeases>;

/** The lease of a thread, and the turns of those who write under it. */
export function openLeases<M>(options: Pick<ThreadPlace<M>, "deps" | "id" | "lease" | "waitMs" | "runId">) {
  const { deps, id, lease: given, waitMs = 0, runId = null } = options;
  const owner = deps.ids();
  let current: Lease = { threadId: id, owner, epoch: 0 };
  /** What is held beyond a write, whoever gives it back. */
  let held: Pick<KeptLease, "lease" | "lost"> | null = typeof given === "string" ? null : given;
  let own: KeptLease | null = null;
  const writer: Writer = {
    ...deps,
    runId,
    claim: typeof given !== "string" && "append" in given ? given : undefined,
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
    /** Appends with the lease that is held at that time. */
    writer,
    isHeld: () => held !== null,
    during: inTurn((work) => {
      if (held === null) return perWrite(work);
      return held.lost.aborted ? takenOver(id) : work();
    }),
    async hold(): Promise<"held" | HeldLease | { readonly kind: "missing" }> {
      const kept = await keepLease(deps.store, id, { owner: deps.ids() });
      if (kept.kind !== "kept") return kept;
      held = kept;
      own = kept;
      return "held";
    },
    /** Gives the lease back, if it is held by us: it is taken for each write then. */
    async release(): Promise<void> {
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
function inTurn(act: LogAct): LogAct {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = before.then(() => act(work));
    before = mine.catch(() => {});
    return mine;
  };
}

/** Calls one after the other; after the last one none is taken. */
export function callsOn(threadId: string) {
  const oneByOne = inTurn((work) => work());
  let closed: Promise<void> | null = null;
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    if (closed !== null)
      return Promise.reject(new ThreadError("closed", `thread ${threadId} was closed: open it again`));
    return oneByOne(work);
  };
  return {
    next,
    last(work: () => Promise<void>): Promise<void> {
      closed ??= next(work);
      return closed;
    },
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

// Messages and other values on their way into the log. What a loop gives to its thread is checked at the boundary.

/** A message under an id of its own: given again, it is passed over. */
export interface IdentifiedMessage<M> {
  readonly message: M;
  /** Without one it is new each time. */
  readonly id?: string | undefined;
  /** By default what its role says; `aborted` for an answer that was cut off. */
  readonly origin?: Origin | undefined;
}

export type GivenMessage<M> = M | IdentifiedMessage<M>;

export interface ReadGiven {
  readonly id: string | null;
  readonly role: Role;
  readonly record: Pick<MessageRecord, "kind" | "dialect" | "origin" | "body">;
}

/** Messages as they are when they are given: whoever gave them may change them. */
export function copyGiven<M extends object>(given: readonly GivenMessage<M>[]) {
  return given.map((one) => {
    const { message, id = null, origin } = isIdentified(one) ? one : { message: one };
    return { id, origin, value: plain(message, new Set()) };
  });
}

/** Throws a `ThreadError` that names the first message the shape can't read. */
export function* readGiven<M extends object>(
  given: ReturnType<typeof copyGiven>,
  shape: Shape<M>,
): Generator<void, readonly ReadGiven[]> {
  // Opening has checked that it is one of ours.
  const dialect = shape.dialect as Dialect;
  const list: ReadGiven[] = [];
  for (const [index, { id, origin, value }] of given.entries()) {
    const body = (yield* jsonSteps(value)) ?? "null";
    yield;
    const read = readMessage(dialect, JSON.parse(body));
    if (read.kind === "problem")
      throw new ThreadError("bad-message", `message ${index + 1} can't be appended: ${read.detail}`);
    const role = shape.role(read.message as unknown as M);
    list.push({ id, role, record: { kind: "message", dialect, origin: origin ?? ORIGINS[role], body } });
  }
  return list;
}

/** No dialect has a message inside a message. */
function isIdentified<M extends object>(given: GivenMessage<M>): given is IdentifiedMessage<M> {
  return "message" in given && typeof given.message === "object" && given.message !== null;
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;

/** Throws only for what has no JSON at all: a value that contains itself. */
export function bodyOf(value: unknown): string {
  return JSON.stringify(plain(value, new Set())) ?? "null";
}

/** The same value with everything JSON can't hold replaced. */
export function jsonOf(value: unknown): unknown {
  return JSON.parse(bodyOf(value));
}

function plain(value: unknown, parents: Set<object>): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (value instanceof URL) return value.href;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), parents);
  if (parents.has(value)) throw new TypeError("the value contains itself and can't be written as JSON");
  parents.add(value);
  const written = children(value, parents);
  parents.delete(value);
  return written;
}

function children(value: object, parents: Set<object>): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, parents) ?? null);
  if (value instanceof Set) return [...value].map((item) => plain(item, parents) ?? null);
  const entries =
    value instanceof Map ? [...value].map(([key, item]) => [keyText(key, parents), item]) : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item, parents)]));
}

/** A key that is itself an object may have no text of its own. */
function keyText(key: unknown, parents: Set<object>): string {
  return typeof key === "object" && key !== null ? (JSON.stringify(plain(key, parents)) ?? "") : String(key);
}

// What an open thread throws.

export type ThreadErrorCode =
  /** Somebody else holds the thread, for longer than was waited. */
  | "busy"
  /** The thread was deleted while it was open. */
  | "missing"
  /** The thread was held, and taken over. */
  | "lease-lost"
  /** A message that its shape can't read. Nothing was written. */
  | "bad-message"
  | "closed";

export class ThreadError extends PalimpsestError<ThreadErrorCode> {
  static override readonly kind = "ThreadError";
}
