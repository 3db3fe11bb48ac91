/**
 * A conversation under one name whose thread can be left: what is taken back, rewound or cleared stays in the thread that is
 * left, and the conversation goes on in another one that shares its beginning. For loops of other frameworks, which
 * know one name and take things back.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { HeldLease } from "../stores/store.ts";
import { fork, withWriter } from "./acts.ts";
import { continuedIn, continuedPatch } from "./handle.ts";
import { commit, createThread, type RecordInput, type ThreadDeps, type Writer } from "./writer.ts";

export interface NamedConversation extends ThreadDeps {
  /** Its first thread's id. */
  readonly name: string;
  /** How long a write waits for somebody who holds the thread. */
  readonly waitMs: number;
}

/** Its threads in order; the last one is where it stands now. */
export async function continuations({ store, name }: Pick<NamedConversation, "store" | "name">): Promise<string[]> {
  const threads: string[] = [];
  for (let next: string | null = name; next !== null; ) {
    threads.push(next);
    const head = await store.head(next);
    next = head === undefined ? null : continuedIn(next, head);
  }
  return threads;
}

/** `moved`: the conversation stands elsewhere by now. `busy`: somebody else holds the thread. Then nothing was done. */
type Continuing<T> =
  | { readonly kind: "written"; readonly value: T }
  | { readonly kind: "moved" }
  | Omit<HeldLease, "owner">;

/** While no one else can write, and only if the conversation still stands in this thread. */
export async function writeWhereItStands<T>(
  conversation: NamedConversation,
  threadId: string,
  work: (writer: Writer) => Promise<T>,
): Promise<Continuing<T>> {
  const { clock, store, waitMs } = conversation;
  const until = clock().getTime() + waitMs;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    const leased = await withWriter(conversation, threadId, async (writer): Promise<Continuing<T>> => {
      const head = await store.head(threadId);
      if (head === undefined || continuedIn(threadId, head) !== null) return { kind: "moved" };
      return { kind: "written", value: await work(writer) };
    });
    if (leased.kind === "done") return leased.value;
    if (leased.kind === "missing") return { kind: "moved" };
    if (clock().getTime() + ms > until)
      return { kind: "busy", renewedAt: leased.renewedAt, expiresAt: leased.expiresAt };
    await pause(ms);
  }
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

export interface Continuation {
  /** The last record that still holds; 0 for none. */
  readonly keep: number;
  /** What is said after it. */
  readonly say: readonly RecordInput[];
}

/** Leaves the writer's thread. Until the last write the new one is not visible. `lost`: the lease was lost, and nothing has changed. */
export async function continueThread(
  conversation: NamedConversation,
  writer: Writer,
  { keep, say }: Continuation,
): Promise<"continued" | "lost"> {
  const from = writer.lease.threadId;
  const head = await conversation.store.head(from);
  const thread = await newThread(conversation, from, keep);
  if (head === undefined || thread === null) return "lost";
  if (say.length > 0) {
    const said = await withWriter(conversation, thread, (own) => commit(own, say));
    if (said.kind !== "done" || said.value.kind !== "committed") return "lost";
  }
  const left = await commit(writer, [{ kind: "state", patch: continuedPatch(from, head, thread) }]);
  return left.kind === "committed" ? "continued" : "lost";
}

/** The first free name: one that a crash has left behind is passed over. */
async function newThread(conversation: NamedConversation, from: string, keep: number): Promise<string | null> {
  const agentName = (await conversation.store.header(from))?.agent ?? "default";
  const { length } = await continuations(conversation);
  for (let n = length; ; n += 1) {
    const as = `${conversation.name}-${n}`;
    const made =
      keep === 0
        ? await createThread(conversation, { id: as, agentName, parent: from })
        : (await fork(conversation, from, { as, at: keep })).kind;
    if (made === "created" || made === "forked") return as;
    if (made !== "exists") return null;
  }
}
