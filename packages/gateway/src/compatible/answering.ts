/**
 * Asks for a thread that the request holds, hands the answer on as it comes, and writes it to the log. The end of the
 * answer is held back until the log has it and the thread is free: a client that goes on at once must find its own words.
 */
import { readUsage } from "palimpsest/internal/models";
import { commit } from "palimpsest/internal/threads";
import type { OpenThread, ThreadPrompt } from "palimpsest/session";
import { problemOf } from "../http/problem.ts";
import { type Answering, promptNow, type Sent } from "./asked-prompt.ts";
import { addEvidence, learningFrom } from "./evidence.ts";
import { askFor, type Engaged, type Exchange } from "./exchange.ts";
import type { Begun, Held, NamedAnswer } from "./held.ts";
import { chainOf } from "./matching/chain.ts";
import { lengthRule } from "./policy.ts";
import { shownSummary } from "./threads/summary.ts";
import { type AnswerReader, paramIn, type ReadAnswer, type VendorFailure } from "./vendor.ts";
import { createFlight, type Flight } from "./wire/flight.ts";
import { type UpstreamAnswer, UpstreamError } from "./wire/upstream.ts";

export async function answerThrough<M extends object>(
  exchange: Exchange<M>,
  engaged: Engaged<M>,
  flightKey: string,
): Promise<void> {
  const { call, deps, held } = exchange;
  const flight = held?.lasts === "forever" ? createFlight("forever") : createFlight();
  let named: NamedAnswer | null = null;
  try {
    named = held === null ? null : await held.begin({ ...(await begunOf(exchange, engaged)), flight });
    if (named?.client !== "later") flight.attach(call.client);
    deps.flights.set(flightKey, flight);
    await askUntilItFits(exchange, { ...engaged, named }, flight);
  } catch (error) {
    if (named === null) flight.attach(call.client);
    await keepReceipt(exchange, { ...engaged, named }, { answer: null, failure: error });
    await engaged.thread.held.release();
    await fail(exchange, flight, error);
  } finally {
    named?.end();
    if (deps.flights.get(flightKey) === flight) deps.flights.delete(flightKey);
    await engaged.thread.held.release();
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
  instead: NonNullable<Held["instead"]>,
): Promise<void> {
  const { held } = engaged.thread;
  try {
    await instead(await begunOf(exchange, engaged), held.thread as unknown as OpenThread<object>);
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
  for (let attempt = 1, added: number | null = null; ; attempt += 1) {
    let prompt = await promptNow(exchange, engaged, flight.abandoned);
    const own = await ownAnswer(engaged, prompt);
    // What this very request hides may matter to it.
    if (own === null && attempt === 1 && prompt.counted !== null) added = await addEvidence(exchange, engaged);
    if (attempt === 1 && added !== null) prompt = await promptNow(exchange, engaged, flight.abandoned);
    const asked = own ?? (await askFor(exchange, prompt.messages, flight.abandoned));
    const answer = own ?? (await named(exchange, engaged, { answer: asked, prompt }));
    const isStream = /text\/event-stream/i.test(String(answer.headers["content-type"] ?? ""));
    const passage: Passage<M> = { reader: vendor.reader(isStream ? "stream" : "whole"), answer, prompt };
    const refusal = answer.status >= 400 ? await refusalIn(answer) : isStream ? await firstWords(passage) : null;
    const mayShrink = lengthRule(policy).ours === "fit" && attempt < MOST_ATTEMPTS && prompt.counted !== null;
    if (refusal?.error != null && mayShrink && (await thread.recover(refusal.error).catch(() => false))) continue;
    const headers = { ...answer.headers, ...exchange.call.own, ...headersOf(exchange, engaged, { ...prompt, added }) };
    const begun = refusal?.bytes ?? [];
    if (answer.status >= 400) {
      await keepReceipt(exchange, engaged, { answer: null, failure: refusal?.error });
      await engaged.thread.held.release();
      return handOver(flight, { status: answer.status, headers, pieces: begun });
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

interface Passage<M> {
  readonly reader: AnswerReader<M>;
  readonly answer: UpstreamAnswer;
  readonly prompt: Sent<M>;
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
  { reader, answer, prompt, flight, headers, begun }: Through<M> & { readonly begun: readonly Uint8Array[] },
): Promise<void> {
  flight.head(answer.status, headers);
  const heldBack: Uint8Array[] = [];
  const handOn = async (bytes: Uint8Array): Promise<void> => {
    if (heldBack.length > 0 || reader.answer().state !== "open") heldBack.push(bytes);
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
  await writeAnswer(exchange, engaged, { reader, prompt });
  for (const bytes of heldBack) await flight.write(bytes);
  flight.end(how);
}

async function wholeThrough<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { reader, answer, prompt, flight, headers }: Through<M>,
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
  await writeAnswer(exchange, engaged, { reader, prompt });
  await handOver(flight, { status: answer.status, headers, pieces });
}

async function handOver(
  flight: Flight,
  { status, headers, pieces }: Pick<UpstreamAnswer, "status" | "headers"> & { readonly pieces: readonly Uint8Array[] },
): Promise<void> {
  flight.head(status, headers);
  for (const bytes of pieces) await flight.write(bytes);
  flight.end("ended");
}

type Heard<M> = Pick<Passage<M>, "reader" | "prompt">;

async function writeAnswer<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  heard: Heard<M>,
): Promise<void> {
  await appendAnswer(exchange, engaged, heard);
  await keepReceipt(exchange, engaged, { answer: heard.reader.answer(), failure: null });
  await engaged.thread.held.release();
}

/** In one append: the answer, its usage, and what the conversation is known by from here on. What fails is left out. */
async function appendAnswer<M extends object>(
  exchange: Exchange<M>,
  engaged: Answering<M>,
  { reader, prompt }: Heard<M>,
): Promise<void> {
  const { call, vendor } = exchange;
  const { thread, asking, state } = engaged;
  const { held } = thread;
  const answer = reader.answer();
  const usage = answer.usage === null ? null : readUsage(answer.usage);
  if (usage !== null) call.meter.tokens(usage);
  if (answer.message === null) return;
  const { shape } = vendor;
  const { secret, group, fixed } = asking;
  const isWhole = answer.state === "ending" || answer.state === "ended";
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

function headersOf<M extends object>(
  { target, bytes, request, call }: Exchange<M>,
  { thread: { id, outcome } }: Engaged<M>,
  { messages, counted, view, added }: Sent<M> & { readonly added: number | null },
): Record<string, string> {
  const done = counted?.outcome?.kind === "compacted" ? counted.outcome : null;
  if (done !== null) call.meter.compaction(done);
  return {
    "x-palimpsest-thread": id,
    "x-palimpsest-match": outcome,
    "x-palimpsest-view": view.hidden || view.erased ? "compacted" : "verbatim",
    ...(counted !== null && {
      "x-palimpsest-seq": String(counted.version),
      "x-palimpsest-tokens": tokensOf(counted, { messages, whole: bytes.length, window: target.window, request }),
    }),
    ...(added !== null && { "x-palimpsest-evidence": String(added) }),
    ...(done !== null && { "x-palimpsest-compaction": `${done.rung};${done.hidden ?? ""}` }),
  };
}

/** What all of it would be, what is sent, the window, and what the count rests on. */
function tokensOf<M extends object>(
  { count }: ThreadPrompt<M>,
  given: {
    readonly messages: readonly M[] | null;
    readonly whole: number;
    readonly window: number;
    readonly request: object;
  },
): string {
  const { messages, whole, window } = given;
  const sent = messages === null ? whole : Buffer.byteLength(JSON.stringify(messages));
  const before =
    messages === null ? count.tokens : Math.max(count.tokens, Math.round((count.tokens * whole) / Math.max(1, sent)));
  return [before, count.tokens, window, count.source].join(";");
}

/** A failure of ours or of the way to the provider, as the vendor would word it. */
async function fail<M extends object>({ vendor, call }: Exchange<M>, flight: Flight, error: unknown): Promise<void> {
  if (flight.hasHead()) {
    await flight.write(Buffer.from(vendor.streamFailure(failureOf(error))));
    return flight.end("broken");
  }
  const failure = failureOf(error);
  const headers = { "content-type": "application/json", ...call.own };
  await handOver(flight, {
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
