/** Ids of responses: pointers to where the log stood when the provider was asked. The answer is the record of that id behind it. */
import type { MessageRecord, ThreadHeader } from "@palimpsest/core/internal/log";
import { parseMessage, type ResponsesMessage, responsesItems } from "@palimpsest/core/internal/message";
import type { Store } from "palimpsest/stores";
import type { JsonFields } from "../../http/read-json.ts";
import type { ServerThreadPlace } from "../answer.ts";
import type { Flight } from "../flight.ts";
import { chainOf, chainStateAt, type Secret } from "../match.ts";
import { type LoggedMessage, shownMessages } from "../own-tools/stitch.ts";
import { findPointed, type Pointer, pointedPlace, readPointer, signPointer } from "../pointer.ts";
import { responsesShape } from "./params.ts";

const PREFIX = "resp_";
const KIND = "response";

/** `hash`: what the conversation is known by there; with it the chain goes on from the answer. */
export function responseId(
  header: ThreadHeader,
  { seq, hash }: { readonly seq: number; readonly hash: string },
  { secret, unique }: { readonly secret: Secret; readonly unique: string },
): string {
  return (
    PREFIX + signPointer(header, { seq, salt: hash + unique.replaceAll("-", "").slice(0, 8) }, { secret, kind: KIND })
  );
}

/** Whether an id could be one of ours at all; those of OpenAI never are. */
export function isOurId(id: string): boolean {
  return id.startsWith(PREFIX) && readPointer(id.slice(PREFIX.length)) !== null;
}

const COMPACTED = "compacted";

/** Of a compaction that was asked for alone: it has no answer, and is gone on from where it stands. */
export function compactedId(
  header: ThreadHeader,
  { seq, hash }: { readonly seq: number; readonly hash: string },
  secret: Secret,
): string {
  return PREFIX + signPointer(header, { seq, salt: hash }, { secret, kind: COMPACTED });
}

export function compactedPlaceOf(store: Store, id: string, secret: Secret): Promise<ServerThreadPlace | null> {
  return pointedPlace(store, id.slice(PREFIX.length), { secret, kind: COMPACTED });
}

export interface FoundResponse {
  readonly id: string;
  readonly pointer: Pointer;
  readonly header: ThreadHeader;
  /** Null: there is none, or none yet. */
  readonly answer: MessageRecord | null;
  /** Its words were erased. */
  readonly redacted: boolean;
  /** What was kept behind it. */
  readonly receipt: ResponseReceipt | null;
}

/** What is kept of a response beside its items. */
export interface ResponseReceipt {
  readonly type: "response";
  readonly response: string;
  readonly status: string;
  /** Of its last event. */
  readonly sequence: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** How many characters of the system prompt they are, which the log keeps once; null or absent: there were none. */
  readonly instructions?: number | null;
  /** The item that came first, by which it can be made again. */
  readonly compaction: {
    readonly record: number;
    readonly seq: number;
    readonly hash: string;
    readonly id: string;
  } | null;
  readonly [detail: string]: unknown;
}

/** How far behind the answer its receipt may stand. */
const NEAR = 8;

/** Null: there is none of this id for the store's user, or it was deleted. */
export async function findResponse(store: Store, id: string, secret: Secret): Promise<FoundResponse | null> {
  if (!isOurId(id)) return null;
  const pointed = await findPointed(store, id.slice(PREFIX.length), { secret, kind: KIND });
  if (pointed.kind === "not-found") return null;
  const { pointer, header, version } = pointed;
  const { state } = (await store.head(pointer.threadId)) ?? { state: {} };
  if (deletedIn(state).includes(keyOf(pointer))) return null;
  const stored = await answerBehind(store, { id, pointer, version });
  const answer = stored?.record ?? null;
  const from = answer?.seq ?? pointer.seq;
  let receipt: ResponseReceipt | null = null;
  const range = [from + 1, Math.min(version, from + NEAR)] as const;
  if (range[0] <= range[1])
    for await (const { record } of store.records(pointer.threadId, { range, kinds: ["event"] })) {
      const event = record.kind === "event" ? record.event : null;
      if (event?.type === "response" && event["response"] === id) receipt = event as unknown as ResponseReceipt;
    }
  return { id, pointer, header, answer, receipt, redacted: stored?.redacted ?? false };
}

async function answerBehind(
  store: Store,
  { id, pointer, version }: { readonly id: string; readonly pointer: Pointer; readonly version: number },
): Promise<{ readonly record: MessageRecord; readonly redacted: boolean } | null> {
  if (version <= pointer.seq) return null;
  const query = { range: [pointer.seq + 1, version], kinds: ["message"] } as const;
  const rounds: LoggedMessage<ResponsesMessage>[] = [];
  let answer: { readonly record: MessageRecord; readonly redacted: boolean } | null = null;
  for await (const { record, redacted } of store.records(pointer.threadId, query)) {
    if (record.kind !== "message") continue;
    const { seq, origin } = record;
    // Behind the answer only results of ours belong to it, before it only rounds that called our tools.
    if (answer !== null && origin !== "injected") break;
    if (answer === null && record.id === id) answer = { record, redacted };
    else if (rounds.length > MOST_BEFORE || origin === "user" || origin === "tool") return null;
    rounds.push({ seq, origin, message: parseMessage("openai-responses", record.body) });
  }
  if (answer === null || rounds.length === 1) return answer;
  const shown = shownMessages(rounds, responsesShape, (first, second) => responsesItems([first, second])).at(-1)!;
  return { ...answer, record: { ...answer.record, seq: shown.seq, body: JSON.stringify(shown.message) } };
}

/** Records of rounds that stand before an answer; some more than there can be. */
const MOST_BEFORE = 1000;

/** Where a conversation goes on that names its last response; null: there is no answer to go on from. */
export function placeAfter({ pointer, answer }: FoundResponse, secret: Secret): ServerThreadPlace | null {
  if (answer === null) return null;
  const from = chainStateAt(pointer.salt.slice(0, -UNIQUE));
  const message = parseMessage("openai-responses", answer.body);
  const { state } = chainOf([message], { shape: responsesShape, secret, from });
  return { threadId: pointer.threadId, seq: answer.seq, state, otherwise: "fork" };
}

const UNIQUE = 8;

const DELETED = "deletedResponses";

/** Responses of a thread that can't be asked for any more; their words stay in its log. */
function deletedIn(state: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = state[DELETED];
  return Array.isArray(keys) ? keys : [];
}

export function deletedPatch(state: Readonly<Record<string, unknown>>, { pointer }: FoundResponse) {
  return { [DELETED]: [...deletedIn(state), keyOf(pointer)] };
}

const keyOf = ({ seq, salt }: Pointer): string => `${seq}.${salt.slice(-UNIQUE)}`;

/*
 * Answers under way, and those that have just ended, by the ids that their clients know: so that one can be followed,
 * taken up again where its client lost it, and cancelled. What has left the memory is read from the log.
 */

export interface LiveResponse {
  readonly flight: Flight;
  readonly background: "yes" | "no";
  readonly stream: boolean;
  state: "running" | "cancelled" | "ended";
  /** As its client would see it now. */
  response: JsonFields;
  readonly ended: Promise<void>;
}

export interface LiveResponses {
  get(userId: string, id: string): LiveResponse | undefined;
  put(userId: string, id: string, response: LiveResponse): void;
  drop(userId: string, id: string): void;
  /** Gives all of them up; what they have said is in the log then. */
  close(): Promise<void>;
}

/** Most that are remembered after their end. */
const KEPT = 128;

export function liveResponses(): LiveResponses {
  const responses = new Map<string, LiveResponse>();
  const keyOf = (userId: string, id: string) => `${id}\n${userId}`;
  return {
    get: (userId, id) => responses.get(keyOf(userId, id)),
    put(userId, id, response) {
      responses.set(keyOf(userId, id), response);
      for (const [key, { state }] of responses) {
        if (responses.size <= KEPT) return;
        if (state === "ended") responses.delete(key);
      }
    },
    drop: (userId, id) => void responses.delete(keyOf(userId, id)),
    async close() {
      const running = [...responses.values()].filter(({ state }) => state === "running");
      for (const { flight } of running) flight.abandon();
      await Promise.all(running.map(({ ended }) => ended));
      responses.clear();
    },
  };
}
