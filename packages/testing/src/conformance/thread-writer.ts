/** Opens threads for writing in tests of stores: created if they aren't there, leased, with a short way to say things. */
import { randomUUID } from "node:crypto";
import type { Shape } from "@palimpsest/core/internal/message";
import { commit, createThread, type LeftThread, openStoredThread, type Thread } from "palimpsest/internal/threads";
import type { Committed, NewThread, RecordInput, Writer } from "palimpsest/session";
import { threadDeps } from "palimpsest/session";
import type { Store } from "palimpsest/stores";

export async function writeThread(
  store: Store,
  id: string,
  fields: Partial<NewThread> = {},
  leaseMs = 30_000,
): Promise<Writer> {
  const own = threadDeps(store);
  await createThread(own, { ...fields, id });
  const taken = await store.acquireLease(id, "the test's writer", leaseMs);
  if (taken.kind !== "acquired") throw new Error(`thread ${id} is ${taken.kind}`);
  return { ...own, lease: taken.lease };
}

/** The thread, open under the writer's lease. What else is written under that is read only after an `act`. */
export async function openUnder<M extends object>(
  { lease, ...deps }: Writer,
  shape: Shape<M>,
  before: LeftThread<M> | null = null,
): Promise<Thread<M>> {
  const { signal: lost } = new AbortController();
  const opened = await openStoredThread({ deps, id: lease.threadId, shape, lease: { lease, lost }, before });
  if (opened.kind !== "open") throw new Error(`thread ${lease.threadId} is ${opened.kind}`);
  return opened.thread;
}

/** One message per text, in turn the user's and the model's. */
export function say(writer: Writer, ...texts: string[]): Promise<Committed> {
  return commit(writer, texts.map(turn));
}

function turn(text: string, index: number): RecordInput {
  const role = index % 2 === 0 ? "user" : "assistant";
  const origin = index % 2 === 0 ? "user" : "model";
  return {
    kind: "message",
    id: randomUUID(),
    dialect: "openai",
    origin,
    body: JSON.stringify({ role, content: text }),
  };
}
