/** Asks the provider for a claimed thread, again with less until the prompt fits, and passes the answer on. */

import type { EventRecord } from "@palimpsest/core/internal/log";
import type { OpenThread, PromptRequest, ThreadPrompt } from "palimpsest/session";
import { clientLeft, closing, isBrokenOff, problemOf } from "../http/problem.ts";
import { paramIn } from "../http/read-json.ts";
import type { ClaimedThread } from "./find.ts";
import { createFlight, type Flight, keepAlive, shareUnheard } from "./flight.ts";
import { type ChainState, hashBefore } from "./match.ts";
import {
  compactedIn,
  type OutcomeInput,
  outcomeOf,
  placeHeaders,
  type ReportedCompaction,
  type RequestOutcome,
} from "./outcome.ts";
import { toolsOnThread, withOwnTools } from "./own-tools/offer.ts";
import { type AnswerRounds, answerRounds, MOST_ATTEMPTS } from "./own-tools/rounds.ts";
import { type AnswerInProgress, type AnswerOpening, HAND_ON, handOver, keepReceipt } from "./passage.ts";
import { type LengthRule, lengthRule, looksUp } from "./policy.ts";
import { addEvidence, promptNow, type SentPrompt, type ShownSummary, shownSummary, VERBATIM } from "./prompt.ts";
import { askFor, bodyFor, type ClaimedRequest, type ParsedRequest } from "./request.ts";
import { bytesOf, formOf, type UpstreamAnswer } from "./upstream.ts";
import type { AnswerReader, ReadAnswer, VendorFailure } from "./vendor.ts";

export async function answerThrough<M extends object>(
  given: ParsedRequest<M>,
  claimed: ClaimedRequest<M>,
  flightKey: string,
  /** Null: the provider is still to be asked. */
  answered: UpstreamAnswer | null = null,
): Promise<void> {
  // Who was asked already was asked without tools of ours.
  const parsed = answered === null && given.policy.tools === "on" ? withOwnTools(given) : given;
  const turn = parsed.ownTools === null ? claimed : { ...claimed, tools: toolsOnThread(parsed, claimed) };
  const { call, deps, held, policy } = parsed;
  const flight = createFlight(held?.lasts === "forever" ? "forever" : undefined, deps.after);
  let named: NamedAnswer<M> | null = null;
  try {
    named = held === null ? null : await held.begin({ ...(await begunOf(parsed, turn)), flight });
    if (named?.client !== "later") flight.attach(call.client);
    deps.flights.set(flightKey, flight);
    const { shared } = call.threads.store;
    if (shared !== undefined && named === null)
      shareUnheard(flight, call.client.left, { runs: shared.runs, key: flightKey, threadId: turn.claimed.id });
    await askUntilItFits(parsed, { ...turn, named }, { flight, given: answered });
  } catch (thrown) {
    const error = brokenOff(parsed, thrown);
    if (named === null) flight.attach(call.client);
    await keepReceipt(parsed, { ...turn, named }, { answer: null, failure: error });
    await turn.claimed.release();
    const nothing = { messages: null, counted: null, as: "whole", view: VERBATIM } as const;
    const outcome = outcomeOf(parsed, turn, { ...nothing, added: null, compaction: null, body: null });
    outcome.note({ status: failureOf(error).status, end: "failed", usage: null });
    await fail(parsed, flight, error);
  } finally {
    named?.end();
    if (deps.flights.get(flightKey) === flight) deps.flights.delete(flightKey);
    await turn.claimed.release();
    if (looksUp(policy)) void deps.embedding.behind(call.threads, turn.claimed.id, call.caller);
  }
}

async function begunOf<M extends object>(
  { call }: ParsedRequest<M>,
  { claimed: { id }, identity, state }: ClaimedRequest<M>,
): Promise<Omit<AnswerStart, "flight">> {
  const head = await call.threads.store.head(id);
  return { threadId: id, seq: head?.version ?? 0, hash: await hashBefore(state, identity.secret) };
}

/** Answers without asking the provider. */
export async function answerInstead<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  instead: NonNullable<ServerThread<M>["instead"]>,
): Promise<void> {
  const { claimed } = turn;
  try {
    await instead(await begunOf(parsed, turn), claimed.thread);
  } finally {
    await claimed.release();
  }
}

async function askUntilItFits<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { flight, given }: { readonly flight: Flight; readonly given: UpstreamAnswer | null },
) {
  const length = lengthRule(parsed.policy).ours;
  let added: number | null = null;
  let compaction: ReportedCompaction | null = null;
  for (let attempt = 1; ; attempt += 1) {
    let prompt = await saidMeanwhile(parsed, { turn, flight }, promptNow(parsed, turn, flight.abandoned));
    const own = await ownAnswer(turn, prompt);
    compaction = compactedIn(prompt) ?? compaction;
    if (attempt === 1 && own === null) ({ prompt, added } = await withEvidence(parsed, turn, prompt, flight.abandoned));
    const first = attempt === 1 ? given : null;
    const passage = await ask(parsed, turn, { flight, prompt, own, given: first, added, compaction });
    const { answer, form, opening } = passage;
    const { again, handOn } = nextStep({
      status: answer.status,
      form,
      refuses: opening.error !== null,
      counted: prompt.counted !== null,
      length,
      attempt,
    });
    const isShorter = again === "if-shorter" && (await shorten(turn, opening.error));
    if (!isShorter) return HAND_ON[handOn](parsed, turn, passage);
    compaction = { rung: "overflow", hidden: null };
  }
}

/** The prompt with what matters to its question: what this very request hides may. */
async function withEvidence<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  prompt: SentPrompt<M>,
  signal: AbortSignal,
): Promise<{ readonly prompt: SentPrompt<M>; readonly added: number | null }> {
  const added = prompt.counted === null ? null : await addEvidence(parsed, turn);
  if (added === null) return { prompt, added };
  const next = await promptNow(parsed, turn, signal);
  if (compactedIn(next) === null) return { prompt: keepingOutcome(next, prompt), added };
  // With it the prompt was too long, and a compaction takes evidence along: it is looked up again, into the room made.
  const again = await addEvidence(parsed, turn);
  const last = again === null ? next : await promptNow(parsed, turn, signal);
  return { prompt: keepingOutcome(last, next), added: again };
}

interface AskOptions<M>
  extends Pick<AnswerInProgress<M>, "flight" | "prompt">,
    Pick<OutcomeInput<M>, "added" | "compaction"> {
  /** Null: the provider is asked. */
  readonly own: UpstreamAnswer | null;
  /** What the provider has answered already. */
  readonly given: UpstreamAnswer | null;
}

/** Asks, and reads as much of the answer as tells whether it is one. */
async function ask<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { flight, prompt, own, given, added, compaction }: AskOptions<M>,
): Promise<AnswerInProgress<M>> {
  const body = own === null ? bodyFor(parsed, prompt) : null;
  const asking = () => askFor(parsed, { ...prompt, body }, flight.abandoned);
  const asked =
    own ?? given ?? (await (flight.hasHead() ? saidMeanwhile(parsed, { turn, flight }, asking()) : asking()));
  const isStitched = own === null && turn.tools !== null && asked.status < 400;
  const rounds = isStitched ? answerRounds(parsed, turn, { answer: asked, prompt, body, compaction, flight }) : null;
  const answer = own ?? (await namedAnswer(parsed, turn, { answer: rounds?.answer ?? asked, prompt }));
  const form = formOf(answer);
  const reader = parsed.vendor.reader(form);
  const told = ({ prompt: sent, ...asked }: ReturnType<AnswerRounds<M>["asked"]>): RequestOutcome =>
    outcomeOf(parsed, turn, { ...sent, ...asked, added });
  let only: RequestOutcome | null = null;
  const outcome = () => {
    if (rounds !== null) return told(rounds.asked());
    only ??= told({ prompt, compaction, body });
    return only;
  };
  return {
    flight,
    answer,
    form,
    reader,
    rounds,
    prompt,
    outcome,
    headers: () => ({ ...answer.headers, ...parsed.call.own, ...outcome().headers }),
    opening: await openingOf(answer, form, reader),
  };
}

async function openingOf<M>(
  { status, body }: UpstreamAnswer,
  form: AnswerInProgress<M>["form"],
  reader: AnswerReader<M>,
): Promise<AnswerOpening> {
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

/** False also if something of ours fails, such as a silent store: the client can act on the provider's refusal, but not on that. */
async function shorten<M extends object>(
  { claimed }: ClaimedRequest<M>,
  refusal: AnswerOpening["error"],
): Promise<boolean> {
  return claimed.thread.recover(refusal).catch(() => false);
}

/** Null: the provider is asked. */
async function ownAnswer<M extends object>({ named: own }: ClaimedRequest<M>, { counted, messages }: SentPrompt<M>) {
  return counted === null ? null : ((await own?.instead?.({ counted, messages })) ?? null);
}

/** Under the name that it is asked for by again, and with the compaction that the client has asked for. */
async function namedAnswer<M extends object>(
  { call, held }: ParsedRequest<M>,
  { claimed, named: own }: ClaimedRequest<M>,
  { answer, prompt }: Pick<AnswerInProgress<M>, "answer" | "prompt">,
): Promise<UpstreamAnswer> {
  if (own === null || answer.status >= 400) return answer;
  const { counted } = prompt;
  const isTold = (held?.threshold != null || own.tells === true) && counted?.outcome?.kind === "compacted";
  const summary = isTold ? await shownSummary(call.threads.store, claimed.id) : null;
  return own.rewrite(answer, summary && { ...summary, seq: counted!.version });
}

/** A compaction before evidence was added is this request's too. */
function keepingOutcome<M>(prompt: SentPrompt<M>, { counted: before }: SentPrompt<M>): SentPrompt<M> {
  const { counted } = prompt;
  if (counted === null || before?.outcome?.kind !== "compacted") return prompt;
  return { ...prompt, counted: { ...counted, outcome: before.outcome } };
}

/** Sends keep-alive comments to a client that waits for a stream. */
function saidMeanwhile<M extends object, T>(
  { call, deps, request }: ParsedRequest<M>,
  { turn, flight }: { readonly turn: ClaimedRequest<M>; readonly flight: Flight },
  work: Promise<T>,
): Promise<T> {
  if (!request.stream) return work;
  return keepAlive(work, flight, { after: deps.after, headers: { ...call.own, ...placeHeaders(turn) } });
}

/** An error of ours or of the connection to the provider, in the vendor's format. */
async function fail<M extends object>(parsed: ParsedRequest<M>, flight: Flight, error: unknown): Promise<void> {
  const { vendor, call } = parsed;
  const failure = failureOf(error);
  if (failure.status >= 500) call.failed(error);
  const headers = { "content-type": "application/json", ...call.own };
  await handOver(parsed, flight, {
    status: failure.status,
    headers,
    pieces: [Buffer.from(JSON.stringify(vendor.failure(failure)))],
  });
}

/** An answer is given up when its client has left, or the server shuts down. */
function brokenOff<M extends object>({ call }: ParsedRequest<M>, error: unknown): unknown {
  if (!isBrokenOff(error)) return error;
  return call.client.left.aborted ? clientLeft() : closing();
}

function failureOf(error: unknown): VendorFailure {
  const { status, code, message, details } = problemOf(error);
  return { status, code, message, param: paramIn(details) };
}

/*
 * Server-side state: what a request says about a conversation that the vendor's server would keep. The vendor's folder reads
 * it, `converse.ts` and this file act on it.
 */

/** A position in one of the caller's threads. */
export interface ServerThreadPlace {
  readonly threadId: string;
  /** The last record that the request goes on from. */
  readonly seq: number;
  /** What the conversation is known by there. */
  readonly state: ChainState;
  /** If the thread has changed since or another request writes to it: a fork, or this refusal. */
  readonly otherwise: "fork" | Error;
}

export interface ServerThread<M> {
  /** Null if the messages alone identify the thread. */
  readonly place: ServerThreadPlace | null;
  /** It is kept, however short it is; absent: a title or a probe is not. */
  readonly sideCall?: "no";
  /** Fields of the body that only concern what is held. */
  readonly withheld: readonly string[];
  /** More tokens than this are compacted before the provider is asked; null: as configured. */
  readonly threshold: number | null;
  /** `forever`: its answer is made to the end, with or without listeners. */
  readonly lasts: "while-heard" | "forever";
  /** `none`: tools of ours can't be offered; absent: they can. */
  readonly tools?: "none";
  /** What is said where the store can't be read and the provider must not be asked instead; absent: it may. */
  readonly unread?: Error | null;
  /** Answers without the provider; null if the provider is asked. */
  readonly instead: ((begun: Omit<AnswerStart, "flight">, thread: OpenThread<M>) => Promise<void>) | null;
  /** Called once the request's words are written. Names the answer and says how it is kept. */
  begin(begun: AnswerStart): Promise<NamedAnswer<M>>;
}

export interface AnswerStart {
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
  prepare?(preparing: PromptToPrepare<M>): Promise<PreparedPrompt<M>>;
  /** An answer for which the provider isn't asked; null: it is. */
  instead?(prepared: PreparedPrompt<M>): Promise<UpstreamAnswer | null>;
  /** The answer as its client gets it; `compacted`: where a compaction was made for it. */
  rewrite(answer: UpstreamAnswer, compaction: ServerCompaction | null): UpstreamAnswer;
  /** Kept behind the answer, so that it can be given again; null: nothing. */
  receipt(answer: ReadAnswer<unknown> | null, failure: unknown): EventRecord["event"] | null;
  end(): void;
}

export interface PromptToPrepare<M> {
  readonly claimed: ClaimedThread<M>;
  readonly counted: ThreadPrompt<M>;
  readonly request: PromptRequest;
}

export interface PreparedPrompt<M> {
  readonly counted: ThreadPrompt<M>;
  /** Other messages than those of the view; null: the view's. */
  readonly messages: readonly M[] | null;
}

/** A compaction that was made for this request: its summary, and the place it stands for. */
export interface ServerCompaction extends Omit<ShownSummary, "record"> {
  /** The record of its compaction, where it is kept as it is told. */
  readonly record?: number;
  readonly seq: number;
}

/* The next step after an answer has begun: ask again with a shorter prompt, or pass it on. Pure. */

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
