/**
 * Asks for a thread that the request holds, hands the answer on as it comes, and writes it to the log. The end of the
 * answer is held back until the log has it and the thread is free: a client that goes on at once must find its own words.
 */
import { readUsage } from "palimpsest/internal/models";
import { commit } from "palimpsest/internal/threads";
import { problemOf } from "../http/problem.ts";
import { type Answering, promptNow, type Sent, VERBATIM } from "./asked-prompt.ts";
import { addEvidence, learningFrom } from "./evidence.ts";
import { askFor, bodyFor, type Engaged, type Exchange } from "./exchange.ts";
import type { Begun, Held, NamedAnswer } from "./held.ts";
import { chainOf } from "./matching/chain.ts";
import { type Compacted, type Outcome, outcomeOf } from "./outcome.ts";
import { lengthRule, looksUp } from "./policy.ts";
import { shownSummary } from "./threads/summary.ts";
import { type AnswerReader, paramIn, type ReadAnswer, type VendorFailure } from "./vendor.ts";
import { createFlight, type Flight } from "./wire/flight.ts";
import { keepAlive } from "./wire/keep-alive.ts";
import { shareUnheard } from "./wire/shared-flight.ts";
import { type UpstreamAnswer, UpstreamError } from "./wire/upstream.ts";

export async function answerThrough<M extends object>(
  exchange: Exchange<M>,
  engaged: Engaged<M>,
  flightKey: string,
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
    await askUntilItFits(exchange, { ...engaged, named }, flight);
  } catch (error) {
    if (named === null) flight.attach(call.client);
    await keepReceipt(exchange, { ...engaged, named }, { answer: null, failure: error });
    await engaged.thread.held.release();
    const nothing = { messages: null, counted: null, as: "whole", view: VERBATIM } as const;
    const outcome = outcomeOf(exchange, engaged, { ...nothing, added: null, compaction: null, body: null });
    outcome.note({ status: failureOf(error).status, end: "failed", usage: null });
    await fail(exchange, flight, error);
  } finally {
    named?.end();
    if (deps.flights.get(flightKey) === flight) deps.flights.delete(flightKey);
    await engaged.thread.held.release();
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
  const { held } = engaged.thread;
  try {
    await instead(await begunOf(exchange, engaged), held.thread);
  } finally {
    await held.release();
  }
}

/** What is kept of an answer so that it can be given again. What fails is left out: the answer itself is in the log. */
async function keepReceipt<M extends object>(
  { call }: Exchange<M>,
  { thread: { held }, named }: Answering<M>,
  { answer, failure }: { readonly answer: ReadAnswer<unknown> | null; readonly failure: unknown },
): Promise<void> {
  const event = named?.receipt(answer, failure) ?? null;
  if (event === null) return;
  await commit(held.writer(call.threads), [{ kind: "event", event }]).catch(() => {});
}

/** Refusals for length that are answered by a shorter prompt. */
const MOST_ATTEMPTS = 4;

async function askUntilItFits<M extends object>(exchange: Exchange<M>, engaged: Answering<M>, flight: Flight) {
  const { vendor, policy } = exchange;
  const { thread } = engaged.thread.held;
  let added: number | null = null;
  let compaction: Compacted | null = null;
  for (let attempt = 1; ; attempt += 1) {
    let prompt = await saidMeanwhile(exchange, { engaged, flight }, promptNow(exchange, engaged, flight.abandoned));
    const own = await ownAnswer(engaged, prompt);
    compaction = compactedIn(prompt) ?? compaction;
    // What this very request hides may matter to it.
    if (own === null && attempt === 1 && prompt.counted !== null) added = await addEvidence(exchange, engaged);
    if (attempt === 1 && added !== null)
      prompt = keepingOutcome(await promptNow(exchange, engaged, flight.abandoned), prompt);
    const body = own === null ? bodyFor(exchange, prompt) : null;
    const asking = () => askFor(exchange, { ...prompt, body }, flight.abandoned);
    const asked = own ?? (await (flight.hasHead() ? saidMeanwhile(exchange, { engaged, flight }, asking()) : asking()));
    const answer = own ?? (await named(exchange, engaged, { answer: asked, prompt }));
    const isStream = /text\/event-stream/i.test(String(answer.headers["content-type"] ?? ""));
    const outcome = outcomeOf(exchange, engaged, { ...prompt, added, compaction, body });
    const passage: Passage<M> = { reader: vendor.reader(isStream ? "stream" : "whole"), answer, prompt, outcome };
    const refusal = answer.status >= 400 ? await refusalIn(answer) : isStream ? await firstWords(passage) : null;
    const mayShrink = lengthRule(policy).ours === "fit" && attempt < MOST_ATTEMPTS && prompt.counted !== null;
    if (refusal?.error != null && mayShrink && (await thread.recover(refusal.error).catch(() => false))) {
      compaction = { rung: "overflow", hidden: null };
      continue;
    }
    const headers = { ...answer.headers, ...exchange.call.own, ...outcome.headers };
    const begun = refusal?.bytes ?? [];
    if (answer.status >= 400) {
      await keepReceipt(exchange, engaged, { answer: null, failure: refusal?.error });
      await engaged.thread.held.release();
      outcome.note({ status: answer.status, end: "refused", usage: null });
      return handOver(exchange, flight, { status: answer.status, headers, pieces: begun });
    }
    return isStream
      ? streamThrough(exchange, engaged, { ...passage, flight, headers, begun })
      : wholeThrough(exchange, engaged, { ...passage, flight, headers });
  }
}

/** Null: the provider is asked. */
async function ownAnswer<M extends object>({ named: own }: Answering<M>, { counted, messages }: Sent<M>) {
  return counted === null ? null : ((await own?.instead?.({ counted, messages })) ?? null);
}

/** Under the name that it is asked for by again, and with the compaction that the client has asked for. */
async function named<M extends object>(
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

interface Passage<M> {
  readonly reader: AnswerReader<M>;
  readonly answer: UpstreamAnswer;
  readonly prompt: Sent<M>;
  readonly outcome: Outcome;
}

interface Refusal {
  readonly bytes: readonly Uint8Array[];
  readonly error: { readonly status: number; readonly message: string; readonly responseBody: string } | null;
}

async function refusalIn({ status, body }: UpstreamAnswer): Promise<Refusal> {
  const bytes: Uint8Array[] = [];
  for await (const piece of body) bytes.push(piece);
  const text = Buffer.concat(bytes).toString();
  return { bytes, error: { status, message: text, responseBody: text } };
}

/** Some refuse in the stream itself, before the first word. */
async function firstWords<M>({ reader, answer }: Passage<M>): Promise<Refusal> {
  const bytes: Uint8Array[] = [];
  const pieces = answer.body[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (!first.done) {
    bytes.push(first.value);
    reader.read(first.value);
  }
  const { state, message, error } = reader.answer();
  const failed = state === "failed" && message === null;
  return { bytes, error: failed ? { status: 400, message: error ?? "", responseBody: error ?? "" } : null };
}

interface Through<M> extends Passage<M> {
  readonly flight: Flight;
  readonly headers: UpstreamAnswer["headers"];
}

async function streamThrough<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { reader, answer, prompt, outcome, flight, headers, begun }: Through<M> & { readonly begun: readonly Uint8Array[] },
): Promise<void> {
  if (!flight.hasHead()) flight.head(answer.status, headers);
  const heldBack: Uint8Array[] = [];
  const handOn = async (bytes: Uint8Array): Promise<void> => {
    if (heldBack.length > 0 || reader.state() !== "open") heldBack.push(bytes);
    else await flight.write(bytes);
  };
  let how: "ended" | "broken" = "ended";
  try {
    for (const bytes of begun) await handOn(bytes);
    for await (const bytes of answer.body) {
      reader.read(bytes);
      await handOn(bytes);
    }
  } catch {
    how = "broken";
  }
  await writeAnswer(exchange, engaged, { reader, answer, prompt, outcome });
  for (const bytes of heldBack) await flight.write(bytes);
  flight.end(how);
}

async function wholeThrough<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { reader, answer, prompt, outcome, flight, headers }: Through<M>,
): Promise<void> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const bytes of answer.body) {
      reader.read(bytes);
      pieces.push(bytes);
    }
  } catch (error) {
    throw new UpstreamError("unreachable", "the model's provider broke off in the middle of its answer", {
      cause: error,
    });
  }
  await writeAnswer(exchange, engaged, { reader, answer, prompt, outcome });
  await handOver(exchange, flight, { status: answer.status, headers, pieces });
}

async function handOver<M extends object>(
  { vendor }: Exchange<M>,
  flight: Flight,
  { status, headers, pieces }: Pick<UpstreamAnswer, "status" | "headers"> & { readonly pieces: readonly Uint8Array[] },
): Promise<void> {
  if (flight.hasHead()) {
    // The client was told to wait for a stream, and this is none.
    const message = messageIn(Buffer.concat(pieces).toString());
    await flight.write(Buffer.from(vendor.streamFailure({ status, code: "provider", message })));
    return flight.end("ended");
  }
  flight.head(status, headers);
  for (const bytes of pieces) await flight.write(bytes);
  flight.end("ended");
}

async function writeAnswer<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  heard: Passage<M>,
): Promise<void> {
  await appendAnswer(exchange, engaged, heard);
  await keepReceipt(exchange, engaged, { answer: heard.reader.answer(), failure: null });
  await engaged.thread.held.release();
}

/** In one append: the answer, its usage, and what the conversation is known by from here on. What fails is left out. */
async function appendAnswer<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { reader, prompt, outcome, answer: { status } }: Passage<M>,
): Promise<void> {
  const { call, vendor } = exchange;
  const { thread, asking, state } = engaged;
  const { held } = thread;
  const answer = reader.answer();
  const usage = answer.usage === null ? null : readUsage(answer.usage);
  if (usage !== null) call.meter.tokens(usage);
  const isWhole = answer.state === "ending" || answer.state === "ended";
  outcome.note({ status, end: isWhole ? "answered" : answer.state === "failed" ? "failed" : "aborted", usage });
  if (answer.message === null) return;
  const { shape } = vendor;
  const { secret, group, fixed } = asking;
  const origin = isWhole ? (prompt.as === "view" ? {} : { origin: "import" as const }) : { origin: "aborted" as const };
  try {
    const [place] = chainOf([answer.message], { shape, secret, from: state }).places;
    const id = engaged.named?.id ?? call.threads.ids();
    const { jobs, queued } = await learningFrom(exchange, engaged);
    held.mark(id, { match: { hash: place!.hash, answer: place!.answer ?? "", group, fixed }, jobs });
    if (usage !== null && prompt.as === "view") await held.thread.report(usage);
    await held.thread.append([{ id, message: answer.message, ...origin }]);
    queued();
  } catch {
    // The client has its answer; it is written when the conversation comes again.
  }
}

/** What a provider says went wrong, as far as its words are known. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } };
    if (typeof error?.message === "string") return error.message;
  } catch {
    // Said below.
  }
  return "the model's provider answered with something that is no stream";
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
  const headers = { "content-type": "application/json", ...call.own };
  await handOver(exchange, flight, {
    status: failure.status,
    headers,
    pieces: [Buffer.from(JSON.stringify(vendor.failure(failure)))],
  });
}

function failureOf(error: unknown): VendorFailure {
  if (error instanceof UpstreamError) return { status: 502, code: "unreachable", message: error.message };
  const { status, code, message, details } = problemOf(error);
  return { status, code, message, param: paramIn(details) };
}
