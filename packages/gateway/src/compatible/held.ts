/**
 * What a request says of a conversation that its vendor's own server would hold: where it goes on, what of it is answered
 * here and never handed on, and what its answer is called. A vendor's folder reads it; the exchange acts on it.
 */
import type { EventRecord } from "@palimpsest/core/log";
import type { OpenThread, PromptRequest, ThreadPrompt } from "palimpsest/session";
import type { ChainState } from "./matching/chain.ts";
import type { Claimed } from "./threads/claim.ts";
import type { ShownSummary } from "./threads/summary.ts";
import type { ReadAnswer } from "./vendor.ts";
import type { Flight } from "./wire/flight.ts";
import type { UpstreamAnswer } from "./wire/upstream.ts";

/** A place in a thread of the caller's. */
export interface HeldPlace {
  readonly threadId: string;
  /** The last record that the request goes on from. */
  readonly seq: number;
  /** What the conversation is known by there. */
  readonly state: ChainState;
  /** Where the thread has gone on since, or somebody else writes to it: a fork, or this refusal. */
  readonly otherwise: "fork" | Error;
}

export interface Held<M> {
  /** Null: the messages say where it goes on. */
  readonly place: HeldPlace | null;
  /** It is kept, however short it is; absent: a title or a probe is not. */
  readonly sideCall?: "no";
  /** Fields of the body that only concern what is held. */
  readonly withheld: readonly string[];
  /** More tokens than this are compacted before the provider is asked; null: as configured. */
  readonly threshold: number | null;
  /** `forever`: its answer is made to the end, whoever hears it. */
  readonly lasts: "while-heard" | "forever";
  /** What is said where the store can't be read and the provider must not be asked instead; absent: it may. */
  readonly unread?: Error | null;
  /** Answers without asking the provider; null: it is asked. */
  readonly instead: ((begun: Omit<Begun, "flight">, thread: OpenThread<M>) => Promise<void>) | null;
  /** Once its words are written: what its answer is called, and what becomes of it. */
  begin(begun: Begun): Promise<NamedAnswer<M>>;
}

export interface Begun {
  readonly threadId: string;
  /** Where the log ends, with the request's words. */
  readonly seq: number;
  /** What the conversation is known by there. */
  readonly hash: string;
  readonly flight: Flight;
}

export interface NamedAnswer<M> {
  /** Of the answer's record. */
  readonly id: string;
  /** `later`: the client has its answer already, and hears of the rest when it asks. */
  readonly client: "now" | "later";
  /** Whether a compaction that was made for it is shown in it, also without a threshold. */
  readonly tells?: boolean;
  /** What else is done about the prompt before it is sent; absent: nothing. */
  prepare?(preparing: Preparing<M>): Promise<Prepared<M>>;
  /** An answer for which the provider isn't asked; null: it is. */
  instead?(prepared: Prepared<M>): Promise<UpstreamAnswer | null>;
  /** The answer as its client gets it; `compacted`: where a compaction was made for it. */
  rewrite(answer: UpstreamAnswer, compaction: HeldCompaction | null): UpstreamAnswer;
  /** Kept behind the answer, so that it can be given again; null: nothing. */
  receipt(answer: ReadAnswer<unknown> | null, failure: unknown): EventRecord["event"] | null;
  /** Nothing more comes. */
  end(): void;
}

/** A prompt that is about to be sent. */
export interface Preparing<M> {
  readonly claimed: Claimed<M>;
  readonly counted: ThreadPrompt<M>;
  readonly request: PromptRequest;
}

export interface Prepared<M> {
  readonly counted: ThreadPrompt<M>;
  /** Other messages than those of the view; null: the view's. */
  readonly messages: readonly M[] | null;
}

/** A compaction that was made for this request: its summary, and the place it stands for. */
export interface HeldCompaction extends Omit<ShownSummary, "record"> {
  /** The record of its compaction, where it is kept as it is told. */
  readonly record?: number;
  readonly seq: number;
}
