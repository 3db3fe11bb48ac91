/** Asks for a thread that the request holds until the prompt fits, and lets the answer pass. */

import type { EventRecord } from "@palimpsest/core/log";
import type { OpenThread, PromptRequest, ThreadPrompt } from "palimpsest/session";
import { clientLeft, closing, isBrokenOff, problemOf } from "../http/problem.ts";
import type { Claimed } from "./find.ts";
import { createFlight, type Flight, keepAlive, shareUnheard } from "./flight.ts";
import type { ChainState } from "./match.ts";
import { type Asked, type Compacted, outcomeOf } from "./outcome.ts";
import { HAND_ON, handOver, keepReceipt, type Opening, type Passage } from "./passage.ts";
import { type LengthRule, lengthRule, looksUp } from "./policy.ts";
import {
  type Answering,
  addEvidence,
  promptNow,
  type Sent,
  type ShownSummary,
  shownSummary,
  VERBATIM,
} from "./prompt.ts";
import { askFor, bodyFor, type Engaged, type Exchange } from "./request.ts";
import { bytesOf, formOf, type UpstreamAnswer } from "./upstream.ts";
import { type AnswerReader, paramIn, type ReadAnswer, type VendorFailure } from "./vendor.ts";

export async function answerThrough<M extends object>(
  exchange: Exchange<M>,
  engaged: Engaged<M>,
  flightKey: string,
  /** Null: the provider is still to be asked. */
  given: UpstreamAnswer | null = null,
): Promise<void> {
  const { call, deps, held, policy } = exchange;
  const flight = createFlight(held?.lasts === "forever" ? "forever" : undefined, deps.after);
  let named: NamedAnswer<M> | null = null;
  try {
    named = held === null ? null : await held.begin({ ...(await begunOf(exchange, engaged)), flight });
    if (named?.client !== "later") flight.attach(call.client);
    deps.flights.set(flightKey, flight);
    const { shared } = call.threads.store;
    if (shared !== undefined && named === null)
      shareUnheard(flight, call.client.left, { runs: shared.runs, key: flightKey, threadId: engaged.thread.id });
    await askUntilItFits(exchange, { ...engaged, named }, { flight, given });
  } catch (thrown) {
    const error = brokenOff(exchange, thrown);
    if (named === null) flight.attach(call.client);
    await keepReceipt(exchange, { ...engaged, named }, { answer: null, failure: error });
    await engaged.thread.claimed.release();
    const nothing = { messages: null, counted: null, as: "whole", view: VERBATIM } as const;
    const outcome = outcomeOf(exchange, engaged, { ...nothing, added: null, compaction: null, body: null });
    outcome.note({ status: failureOf(error).status, end: "failed", usage: null });
    await fail(exchange, flight, error);
  } finally {
    named?.end();
    if (deps.flights.get(flightKey) === flight) deps.flights.delete(flightKey);
    await engaged.thread.claimed.release();
    if (looksUp(policy)) void deps.embedding.behind(call.threads, engaged.thread.id, call.caller);
  }
}

async function begunOf<M extends object>(
  { call }: Exchange<M>,
  { thread: { id }, asking, state }: Engaged<M>,
): Promise<Omit<Begun, "flight">> {
  const head = await call.threads.store.head(id);
  return { threadId: id, seq: head?.version ?? 0, hash: asking.places.at(-1)?.hash ?? state.hash };
}

/** An answer that is ours alone. */
export async function answerInstead<M extends object>(
  exchange: Exchange<M>,
  engaged: Engaged<M>,
  instead: NonNullable<Held<M>["instead"]>,
): Promise<void> {
  const { claimed } = engaged.thread;
  try {
    await instead(await begunOf(exchange, engaged), claimed.thread);
  } finally {
    await claimed.release();
  }
}

async function askUntilItFits<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { flight, given }: { readonly flight: Flight; readonly given: UpstreamAnswer | null },
) {
  const length = lengthRule(exchange.policy).ours;
  let added: number | null = null;
  let compaction: Compacted | null = null;
  for (let attempt = 1; ; attempt += 1) {
    let prompt = await saidMeanwhile(exchange, { engaged, flight }, promptNow(exchange, engaged, flight.abandoned));
    const own = await ownAnswer(engaged, prompt);
    compaction = compactedIn(prompt) ?? compaction;
    if (attempt === 1 && own === null)
      ({ prompt, added } = await withEvidence(exchange, engaged, prompt, flight.abandoned));
    const first = attempt === 1 ? given : null;
    const passage = await ask(exchange, engaged, { flight, prompt, own, given: first, added, compaction });
    const { answer, form, opening } = passage;
    const { again, handOn } = nextStep({
      status: answer.status,
      form,
      refuses: opening.error !== null,
      counted: prompt.counted !== null,
      length,
      attempt,
    });
    const isShorter = again === "if-shorter" && (await shorten(engaged, opening.error));
    if (!isShorter) return HAND_ON[handOn](exchange, engaged, passage);
    compaction = { rung: "overflow", hidden: null };
  }
}

/** The prompt with what matters to its question: what this very request hides may. */
async function withEvidence<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  prompt: Sent<M>,
  signal: AbortSignal,
): Promise<{ readonly prompt: Sent<M>; readonly added: number | null }> {
  const added = prompt.counted === null ? null : await addEvidence(exchange, engaged);
  if (added === null) return { prompt, added };
  const next = await promptNow(exchange, engaged, signal);
  if (compactedIn(next) === null) return { prompt: keepingOutcome(next, prompt), added };
  // With it the prompt was too long, and a compaction takes evidence along: it is looked up again, into the room made.
  const again = await addEvidence(exchange, engaged);
  const last = again === null ? next : await promptNow(exchange, engaged, signal);
  return { prompt: keepingOutcome(last, next), added: again };
}

interface AskOptions<M> extends Pick<Passage<M>, "flight" | "prompt">, Pick<Asked<M>, "added" | "compaction"> {
  /** Null: the provider is asked. */
  readonly own: UpstreamAnswer | null;
  /** What the provider has answered already. */
  readonly given: UpstreamAnswer | null;
}

/** Asks, and reads as much of the answer as tells whether it is one. */
async function ask<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { flight, prompt, own, given, added, compaction }: AskOptions<M>,
): Promise<Passage<M>> {
  const body = own === null ? bodyFor(exchange, prompt) : null;
  const asking = () => askFor(exchange, { ...prompt, body }, flight.abandoned);
  const asked =
    own ?? given ?? (await (flight.hasHead() ? saidMeanwhile(exchange, { engaged, flight }, asking()) : asking()));
  const answer = own ?? (await namedAnswer(exchange, engaged, { answer: asked, prompt }));
  const form = formOf(answer);
  const reader = exchange.vendor.reader(form);
  const outcome = outcomeOf(exchange, engaged, { ...prompt, added, compaction, body });
  const headers = { ...answer.headers, ...exchange.call.own, ...outcome.headers };
  return {
    flight,
    answer,
    form,
    reader,
    prompt,
    outcome,
    headers,
    opening: await openingOf(answer, form, reader),
  };
}

async function openingOf<M>(
  { status, body }: UpstreamAnswer,
  form: Passage<M>["form"],
  reader: AnswerReader<M>,
): Promise<Opening> {
  if (status < 400 && form === "whole") return { bytes: [], error: null };
  if (status >= 400) {
    const bytes = await bytesOf(body);
    const text = bytes.toString();
    return { bytes: [bytes], error: { status, message: text, responseBody: text } };
  }
  // Some refuse in the stream itself, before the first word.
  const first = await body[Symbol.asyncIterator]().next();
  const bytes: readonly Uint8Array[] = first.done ? [] : [first.value];
  for (const piece of bytes) reader.read(piece);
  const { state, message, error } = reader.answer();
  const refuses = state === "failed" && message === null;
  return { bytes, error: refuses ? { status: 400, message: error ?? "", responseBody: error ?? "" } : null };
}

/** False also where something of ours fails, such as a silent store: the client can act on the provider's refusal, not on that. */
async function shorten<M extends object>({ thread }: Answering<M>, refusal: Opening["error"]): Promise<boolean> {
  return thread.claimed.thread.recover(refusal).catch(() => false);
}

/** Null: the provider is asked. */
async function ownAnswer<M extends object>({ named: own }: Answering<M>, { counted, messages }: Sent<M>) {
  return counted === null ? null : ((await own?.instead?.({ counted, messages })) ?? null);
}

/** Under the name that it is asked for by again, and with the compaction that the client has asked for. */
async function namedAnswer<M extends object>(
  { call, held }: Exchange<M>,
  { thread, named: own }: Answering<M>,
  { answer, prompt }: Pick<Passage<M>, "answer" | "prompt">,
): Promise<UpstreamAnswer> {
  if (own === null || answer.status >= 400) return answer;
  const { counted } = prompt;
  const isTold = (held?.threshold != null || own.tells === true) && counted?.outcome?.kind === "compacted";
  const summary = isTold ? await shownSummary(call.threads.store, thread.id) : null;
  return own.rewrite(answer, summary && { ...summary, seq: counted!.version });
}

/** A compaction before evidence was added is this request's too. */
function keepingOutcome<M>(prompt: Sent<M>, { counted: before }: Sent<M>): Sent<M> {
  const { counted } = prompt;
  if (counted === null || before?.outcome?.kind !== "compacted") return prompt;
  return { ...prompt, counted: { ...counted, outcome: before.outcome } };
}

function compactedIn<M>({ counted }: Sent<M>): Compacted | null {
  return counted?.outcome?.kind === "compacted" ? counted.outcome : null;
}

/** A client that waits for a stream hears that it waits. */
function saidMeanwhile<M extends object, T>(
  { call, deps, request }: Exchange<M>,
  { engaged: { thread }, flight }: { readonly engaged: Engaged<M>; readonly flight: Flight },
  work: Promise<T>,
): Promise<T> {
  if (!request.stream) return work;
  const place = { "x-palimpsest-thread": thread.id, "x-palimpsest-match": thread.outcome };
  return keepAlive(work, flight, { after: deps.after, headers: { ...call.own, ...place } });
}

/** A failure of ours or of the way to the provider, as the vendor would word it. */
async function fail<M extends object>(exchange: Exchange<M>, flight: Flight, error: unknown): Promise<void> {
  const { vendor, call } = exchange;
  const failure = failureOf(error);
  if (failure.status >= 500) call.failed(error);
  const headers = { "content-type": "application/json", ...call.own };
  await handOver(exchange, flight, {
    status: failure.status,
    headers,
    pieces: [Buffer.from(JSON.stringify(vendor.failure(failure)))],
  });
}

/** An answer is given up when its client has left, or the server shuts down. */
function brokenOff<M extends object>({ call }: Exchange<M>, error: unknown): unknown {
  if (!isBrokenOff(error)) return error;
  return call.client.left.aborted ? clientLeft() : closing();
}

function failureOf(error: unknown): VendorFailure {
  const { status, code, message, details } = problemOf(error);
  return { status, code, message, param: paramIn(details) };
}

/*
 * What a request says of a conversation that its vendor's own server would hold: where it goes on, what of it is answered
 * here and never handed on, and what its answer is called. A vendor's folder reads it; the exchange acts on it.
 */

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

/* What becomes of an answer that has begun: it is asked for again with less, or handed on as it is. Pure. */

export interface AnswerFacts {
  readonly status: number;
  readonly form: "stream" | "whole";
  /** By its status, or in the first words of its stream. */
  readonly refuses: boolean;
  /** Whether the thread could count what was sent: what can't be counted can't be made shorter. */
  readonly counted: boolean;
  /** Who makes prompts shorter. */
  readonly length: LengthRule["ours"];
  /** From 1. */
  readonly attempt: number;
}

export interface NextStep {
  /** `if-shorter`: it is asked again, if it was refused for its length and something can be taken away. */
  readonly again: "if-shorter" | "no";
  /** How it is handed on otherwise. A stream that refuses is one nevertheless: its status was given. */
  readonly handOn: "refusal" | "stream" | "whole";
}

export function nextStep({ status, form, refuses, counted, length, attempt }: AnswerFacts): NextStep {
  const mayShorten = refuses && counted && length === "fit" && attempt < MOST_ATTEMPTS;
  return { again: mayShorten ? "if-shorter" : "no", handOn: status >= 400 ? "refusal" : form };
}

/** Each makes the prompt shorter; a provider that refuses this many refuses for another reason. */
const MOST_ATTEMPTS = 4;
