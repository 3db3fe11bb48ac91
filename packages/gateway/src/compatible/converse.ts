/**
 * One exchange of a conversation: the thread is found, what is new is written, the provider is asked with the client's own
 * bytes or, once something is hidden, with the view, and its answer passes through while it is read for the log. Whatever
 * fails on our side, the client gets its answer.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import type { Shape } from "@palimpsest/core/message";
import { pace } from "palimpsest/internal/threads";
import type { OpenThread } from "palimpsest/session";
import { isBrokenOff, ProblemError } from "../http/problem.ts";
import { answerInstead, answerThrough } from "./answer.ts";
import { claimMatch, claimPlace, findMatch } from "./find.ts";
import { joinElsewhere } from "./flight.ts";
import { notePassed } from "./outcome.ts";
import { lengthRule, policyOf } from "./policy.ts";
import { fittingMessages, questionIn } from "./prompt.ts";
import { fieldNames, fieldSpans } from "./raw-json.ts";
import {
  askFor,
  askingOf,
  assertOwnReference,
  bodyFor,
  type Engaged,
  type Exchange,
  mayName,
  mayNameAny,
  readExchange,
  storeOf,
  targetFor,
  unclearIn,
} from "./request.ts";
import type { CompatibleCall, CompatibleDeps } from "./serve.ts";
import { askTarget, relay, requestBytes } from "./upstream.ts";
import type { Vendor } from "./vendor.ts";

export async function converse<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  vendor: Vendor<M>,
): Promise<void> {
  const policy = policyOf(call.headers, deps.settings, call.caller.userId);
  const bytes = policy.mode === "off" ? await call.body() : null;
  if (bytes !== null && (await passUnread(call, deps, { vendor, bytes })) === "passed") return;
  const read = await readExchange(bytes === null ? call : { ...call, body: async () => bytes }, deps, vendor);
  if (read.kind === "problem") {
    const { target, sent, message } = read;
    if (target.way === "converted") throw new ProblemError(400, "invalid", message);
    const place = { vendor, target, path: vendor.path };
    const answer = await askTarget(call, place, { body: sent, signal: call.client.left });
    return relay(call, answer, { ours: PASSED, unreported: { textBytes: sent.length } });
  }
  return converseWith(await heldOf(read.exchange));
}

/** An exchange that was read, whatever it says of what is held. */
export async function converseWith<M extends object>(read: Exchange<M>): Promise<void> {
  const { call, deps, policy, request } = read;
  if (request.reference !== null) assertOwnReference(call, deps, read);
  if (policy.mode === "off" || request.reference !== null || call.threads.store.matches === undefined)
    return pass(read);
  const hash = await read.reading.digest();
  const flightKey = flightOf(call, hash);
  const exchange = { ...read, hash };
  const flying = deps.flights.get(flightKey);
  if (flying !== undefined && isRetry(call.headers) && !flying.isHeard()) return flying.attach(asJoined(call.client));
  if (flying === undefined && isRetry(call.headers) && (await joinedElsewhere(call, flightKey))) return;
  if (call.isStranger() && exchange.held?.instead == null) return introduce(exchange, flightKey);
  const engaged = await engage(exchange).catch((error: unknown) => orUnstored(call, error));
  if (engaged === null && exchange.held?.unread != null) throw exchange.held.unread;
  if (engaged === null && exchange.held?.place != null)
    throw new ProblemError(503, "store-silent", "the conversation can't be read at the moment: try again");
  if (engaged === null) return pass(exchange);
  if (exchange.held?.instead != null) return answerInstead(exchange, engaged, exchange.held.instead);
  return answerThrough(exchange, engaged, flightKey);
}

/** Served from the log where all is kept; else it is for the vendor, as it came. */
async function heldOf<M extends object>(exchange: Exchange<M>): Promise<Exchange<M>> {
  const { vendor, policy, target, call } = exchange;
  if (vendor.hold === undefined || policy.mode !== "on" || call.threads.store.matches === undefined) {
    vendor.leave?.(exchange);
    return exchange;
  }
  // Whoever wants the vendor's own ways gets them where the vendor is asked.
  return policy.compaction === "native" && target.way === "raw" ? exchange : vendor.hold(exchange);
}

const PASSED = { "x-palimpsest-match": "passed", "x-palimpsest-view": "verbatim" };

/** For who wants nothing of us: a provider of the same protocol gets the body without our having read more than its model. */
async function passUnread<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  { vendor, bytes }: { readonly vendor: Vendor<M>; readonly bytes: Buffer },
): Promise<"passed" | "unclear"> {
  const model = await modelIn(bytes);
  if (model === null) return "unclear";
  const target = targetFor(call, deps, { vendor, model });
  if (target.way !== "raw" || (mayName(bytes) && !mayNameAny(call, target))) return "unclear";
  const body = requestBytes(bytes, { model, target, field: vendor.field });
  const place = { vendor, target, path: vendor.path };
  const answer = await askTarget(call, place, { body, signal: call.client.left });
  await relay(call, answer, { ours: PASSED, unreported: { textBytes: body.length } });
  return "passed";
}

/** Null: it doesn't say, or is no JSON object, or can be read in two ways. */
async function modelIn(bytes: Buffer): Promise<string | null> {
  try {
    const names = fieldNames(bytes);
    if (names === null || (await unclearIn(bytes, names)) !== null) return null;
    const span = fieldSpans(bytes).get("model");
    const model: unknown = span === undefined ? null : JSON.parse(bytes.toString("utf8", span.start, span.end));
    return typeof model === "string" && model !== "" ? model : null;
  } catch {
    return null;
  }
}

/** With a key that no provider has accepted yet the provider is asked first: what it refuses is not written. */
async function introduce<M extends object>(exchange: Exchange<M>, flightKey: string): Promise<void> {
  const { call } = exchange;
  const asked = await askUnkept(exchange);
  const mayKeep = !call.isStranger() && asked.view === "verbatim";
  const engaged = mayKeep ? await engage(exchange).catch((error: unknown) => orUnstored(call, error)) : null;
  return engaged === null ? passOn(exchange, asked) : answerThrough(exchange, engaged, flightKey, asked.answer);
}

async function pass<M extends object>(exchange: Exchange<M>): Promise<void> {
  return passOn(exchange, await askUnkept(exchange));
}

/** Unchanged, unless it can't fit: then what can be shortened without a store is. */
async function askUnkept<M extends object>(exchange: Exchange<M>) {
  const { call, policy } = exchange;
  const messages = lengthRule(policy).ours === "fit" ? await fittingMessages(exchange) : null;
  const view = messages === null ? ("verbatim" as const) : ("compacted" as const);
  const body = bodyFor(exchange, { messages });
  const answer = await askFor(exchange, { messages, body }, call.client.left);
  return { answer, view, unreported: { textBytes: (body ?? exchange.bytes).length } };
}

async function passOn<M extends object>(
  exchange: Exchange<M>,
  { answer, view, unreported }: Awaited<ReturnType<typeof askUnkept>>,
): Promise<void> {
  const { call, policy } = exchange;
  await relay(call, answer, { ours: { ...PASSED, "x-palimpsest-view": view }, unreported });
  // Of what passes by the operator's or the client's wish, nothing is kept.
  if (policy.mode !== "off") notePassed(exchange, { status: answer.status, view });
}

/** Null: a side call, or a thread that went while it was looked at. */
async function engage<M extends object>(exchange: Exchange<M>): Promise<Engaged<M> | null> {
  const { call, vendor } = exchange;
  const { shape } = vendor;
  const { store, claim } = storeOf(exchange);
  const { asking, state } = await askingOf(exchange);
  const claiming = { deps: { ...call.threads, store }, asking, claim };
  const place = exchange.held?.place ?? null;
  const match = place === null ? await findMatch(store, asking) : null;
  if (match?.kind === "passed") return null;
  const thread = match === null ? await claimPlace<M>(place!, claiming) : await claimMatch<M>(match, claiming);
  if (thread === null) return null;
  try {
    const rest = exchange.request.messages.slice(thread.known);
    const bytesOfOne = exchange.bytes.length / Math.max(1, exchange.request.messages.length);
    const atOnce = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor(BYTES_AT_ONCE / bytesOfOne)));
    const seqs = await appendInTurns(rest, thread.claimed.thread, { shape, atOnce, left: call.client.left });
    return { thread, asking, state, question: questionIn(rest, seqs, shape) };
  } catch (error) {
    await thread.claimed.release();
    throw error;
  }
}

/** Messages, and about how many bytes of them, that are written in one transaction. */
const MOST_AT_ONCE = 500;
const BYTES_AT_ONCE = 2_000_000;

/** What a client asks it sends again until it is answered: only the answer is worth a wait for the disk. */
const BY_ITSELF = () => ({ flush: "later" }) as const;

/** Ends with all of them in the log, unless the client leaves: then the request goes on there when it comes again. */
async function appendInTurns<M extends object>(
  messages: readonly M[],
  thread: OpenThread<M>,
  { shape, atOnce, left }: { readonly shape: Shape<M>; readonly atOnce: number; readonly left: AbortSignal },
): Promise<readonly number[]> {
  const steps = pace(left);
  const seqs: number[] = [];
  for (let at = 0; at < messages.length; at += atOnce) {
    left.throwIfAborted();
    if (steps.isDue()) await steps.turn();
    // An answer that isn't ours was given elsewhere.
    const given = messages
      .slice(at, at + atOnce)
      .map((message) => (shape.role(message) === "assistant" ? ({ message, origin: "import" } as const) : { message }));
    seqs.push(...(await thread.append(given, BY_ITSELF)));
  }
  return seqs;
}

/** Rethrow errors of the request. On errors of the store return null, so that the request passes; our operator is told. */
function orUnstored(call: CompatibleCall, error: unknown): null {
  if (ProblemError.isInstance(error) || (call.client.left.aborted && isBrokenOff(error))) throw error;
  if (PalimpsestError.isInstance(error) && error.code === "bad-message")
    throw new ProblemError(400, "invalid", error.message);
  call.unstored(error);
  return null;
}

/** The same bytes of the same user to the same place. */
function flightOf({ caller, path }: CompatibleCall, hash: string): string {
  return JSON.stringify([caller.userId, caller.key, path, hash]);
}

function isRetry(headers: Headers): boolean {
  return Number(headers.get("x-stainless-retry-count") ?? 0) > 0 || headers.has("idempotency-key");
}

/** A retry may reach another instance than the one whose answer is still under way. */
async function joinedElsewhere({ client, threads }: CompatibleCall, key: string): Promise<boolean> {
  const { shared } = threads.store;
  if (shared === undefined) return false;
  const joined = await joinElsewhere(asJoined(client), { runs: shared.runs, key }).catch(() => "none" as const);
  return joined === "joined";
}

function asJoined(client: CompatibleCall["client"]): CompatibleCall["client"] {
  return {
    ...client,
    head: (status, headers) => client.head(status, { ...headers, "x-palimpsest-match": "joined" }),
  };
}
