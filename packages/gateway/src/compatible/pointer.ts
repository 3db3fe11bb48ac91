/**
 * Ids that say themselves where they point: a place in a thread, signed under the gateway's secret together with whose it
 * is and what it is for. It can't be forged and needs no table. Pure, but for the look whether its thread is
 * still there: an id of another user, of a deleted thread and one that was edited are all the same "not found".
 */
import { timingSafeEqual } from "node:crypto";
import type { ThreadHeader } from "@palimpsest/core/internal/log";
import type { Store } from "palimpsest/stores";
import type { ServerThreadPlace } from "./answer.ts";
import { chainStateAt, keyed, type Secret } from "./match.ts";

export interface Pointer {
  readonly threadId: string;
  /** 0: the thread as a whole. */
  readonly seq: number;
  /** Tells two ids of one place apart, or says what else is known there; letters, digits, `-` and `_`. */
  readonly salt: string;
}

export interface Signing {
  readonly secret: Secret;
  /** What it is for: an id of one kind is none of another. */
  readonly kind: string;
  /** A text that it vouches for, such as the summary it comes with. */
  readonly about?: string;
}

type SignedThread = Pick<ThreadHeader, "id" | "user" | "createdAt">;

/** Of characters that stand in a URL as they are: letters, digits, `-`, `_` and `.`. */
export function signPointer(
  thread: SignedThread,
  { seq, salt }: Pick<Pointer, "seq" | "salt">,
  signing: Signing,
): string {
  const body = [seq.toString(36), salt, thread.id].join(".");
  return signatureOf(body, thread, signing) + body;
}

/** What it says, without any proof of it; null: nothing that we wrote. */
export function readPointer(token: string): Pointer | null {
  const [, seq, salt, threadId] = /^[\w-]{22}([0-9a-z]{1,10})\.([\w-]*)\.([\w.-]+)$/.exec(token) ?? [];
  return seq === undefined ? null : { threadId: threadId!, seq: Number.parseInt(seq, 36), salt: salt! };
}

/** Whether this very token was made for the thread: a thread that was deleted and made anew is another one. */
export function isSigned(token: string, thread: SignedThread, signing: Signing): boolean {
  const body = token.slice(SIGNATURE_LENGTH);
  const [given, expected] = [Buffer.from(token), Buffer.from(signatureOf(body, thread, signing) + body)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export type Pointed =
  | { readonly kind: "found"; readonly pointer: Pointer; readonly header: ThreadHeader; readonly version: number }
  | { readonly kind: "not-found" };

const NOT_FOUND = { kind: "not-found" } as const;

/** The place in the threads of the store's user. */
export async function findPointed(
  store: Pick<Store, "header" | "head">,
  token: string,
  signing: Signing,
): Promise<Pointed> {
  const pointer = readPointer(token);
  const header = pointer === null ? undefined : await store.header(pointer.threadId);
  if (pointer === null || header === undefined || !isSigned(token, header, signing)) return NOT_FOUND;
  const version = (await store.head(pointer.threadId))?.version ?? 0;
  return version < pointer.seq ? NOT_FOUND : { kind: "found", pointer, header, version };
}

/** Where a thread goes on that was left there. Null: it was edited, is another user's, or its thread is gone. */
export async function pointedPlace(
  store: Pick<Store, "header" | "head">,
  token: string,
  signing: Signing,
): Promise<ServerThreadPlace | null> {
  const pointed = await findPointed(store, token, signing);
  if (pointed.kind === "not-found") return null;
  const { threadId, seq, salt } = pointed.pointer;
  return { threadId, seq, state: chainStateAt(salt), otherwise: "fork" };
}

/** As `keyed` makes them. */
const SIGNATURE_LENGTH = 22;

function signatureOf(body: string, { user, createdAt }: SignedThread, { secret, kind, about = "" }: Signing): string {
  return keyed(secret, JSON.stringify(["pointer", kind, user, createdAt, body, about]));
}
