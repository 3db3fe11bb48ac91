/**
 * Ids of answers in threads that are held here: pointers to where the log stood when the model was asked. The answer is the
 * record of that id behind it; of an answer that was only a compaction there is none, and the thread goes on right there.
 */
import type { MessageRecord, ThreadHeader } from "@palimpsest/core/log";
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/message";
import type { Store } from "palimpsest/stores";
import type { HeldPlace } from "../held.ts";
import { chainOf, type Secret } from "../matching/chain.ts";
import { findPointed, type Pointer, signPointer } from "../pointers/pointer.ts";

const PREFIX = "msg_";
/** `answer`: something was said. `place`: nothing was. */
export type IdKind = "answer" | "place";
const signedFor = (kind: IdKind): string => `message-${kind}`;
/** Tells two answers to one request apart. */
const UNIQUE = 8;

export function messageId(
  header: ThreadHeader,
  { seq, hash }: { readonly seq: number; readonly hash: string },
  { kind, secret, unique }: { readonly kind: IdKind; readonly secret: Secret; readonly unique: string },
): string {
  const salt = hash + unique.replaceAll("-", "").slice(0, UNIQUE);
  return PREFIX + signPointer(header, { seq, salt }, { secret, kind: signedFor(kind) });
}

/** Where the thread goes on that names its last answer; null: there is none of this id for the store's user. */
export async function placeOfMessage(store: Store, id: string, secret: Secret): Promise<HeldPlace | null> {
  if (!id.startsWith(PREFIX)) return null;
  const token = id.slice(PREFIX.length);
  const said = await findPointed(store, token, { secret, kind: signedFor("answer") });
  if (said.kind === "found") {
    const answer = await answerBehind(store, { id, pointer: said.pointer, version: said.version });
    return answer === null ? null : behind(said.pointer, answer, secret);
  }
  const pointed = await findPointed(store, token, { secret, kind: signedFor("place") });
  if (pointed.kind === "not-found") return null;
  const { threadId, seq } = pointed.pointer;
  return { threadId, seq, state: stateAt(pointed.pointer), otherwise: "fork" };
}

const stateAt = ({ salt }: Pointer) => ({ hash: salt.slice(0, -UNIQUE), pending: [], calls: [] });

function behind(pointer: Pointer, answer: MessageRecord, secret: Secret): HeldPlace {
  const message = JSON.parse(answer.body) as AnthropicMessage;
  const { state } = chainOf([message], { shape: anthropicShape, secret, from: stateAt(pointer) });
  return { threadId: pointer.threadId, seq: answer.seq, state, otherwise: "fork" };
}

/** The first message behind the place is its answer, or the request was never answered. */
async function answerBehind(
  store: Store,
  { id, pointer, version }: { readonly id: string; readonly pointer: Pointer; readonly version: number },
): Promise<MessageRecord | null> {
  if (version <= pointer.seq) return null;
  const query = { range: [pointer.seq + 1, version], kinds: ["message"] } as const;
  for await (const { record } of store.records(pointer.threadId, query))
    return record.kind === "message" && record.id === id ? record : null;
  return null;
}
