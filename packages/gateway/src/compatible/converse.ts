/**
 * One exchange of a conversation: the thread is found, what is new is written, the provider is asked with the client's own
 * bytes or, once something is hidden, with the view, and its answer passes through while it is read for the log. Whatever
 * fails on our side, the client gets its answer.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import { ProblemError } from "../http/problem.ts";
import { answerInstead, answerThrough } from "./answering.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { questionIn } from "./evidence.ts";
import {
  askFor,
  askingOf,
  bodyFor,
  type Engaged,
  type Exchange,
  readExchange,
  storeOf,
  targetFor,
} from "./exchange.ts";
import { fittingMessages } from "./fitting.ts";
import { notePassed } from "./outcome.ts";
import { lengthRule, policyOf } from "./policy.ts";
import { askTarget, relay, requestBytes } from "./relay.ts";
import { claimPlace } from "./threads/at-place.ts";
import { claimMatch } from "./threads/claim.ts";
import { findMatch } from "./threads/find.ts";
import type { Vendor } from "./vendor.ts";
import { fieldSpans } from "./wire/raw-json.ts";
import { joinElsewhere } from "./wire/shared-flight.ts";

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
    return relay(call, await askTarget(call, place, { body: sent, signal: call.client.left }), PASSED);
  }
  return converseWith(await heldOf(read.exchange));
}

/** An exchange that was read, whatever it says of what is held. */
export async function converseWith<M extends object>(read: Exchange<M>): Promise<void> {
  const { call, deps, policy, request } = read;
  if (policy.mode === "off" || request.reference !== null || call.threads.store.matches === undefined)
    return pass(read);
  const hash = read.reading.digest();
  const flightKey = flightOf(call, hash);
  const exchange = { ...read, hash };
  const flying = deps.flights.get(flightKey);
  if (flying !== undefined && isRetry(call.headers) && !flying.isHeard()) return flying.attach(asJoined(call.client));
  if (flying === undefined && isRetry(call.headers) && (await joinedElsewhere(call, flightKey))) return;
  const engaged = await engage(exchange).catch(orUnstored);
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
  const model = modelIn(bytes);
  if (model === null) return "unclear";
  const target = targetFor(call, deps, { vendor, model });
  if (target.way !== "raw") return "unclear";
  const body = requestBytes(bytes, { model, target, field: vendor.field });
  const place = { vendor, target, path: vendor.path };
  await relay(call, await askTarget(call, place, { body, signal: call.client.left }), PASSED);
  return "passed";
}

/** Null: it doesn't say, or is no JSON. */
function modelIn(bytes: Buffer): string | null {
  try {
    const span = fieldSpans(bytes).get("model");
    const model: unknown = span === undefined ? null : JSON.parse(bytes.toString("utf8", span.start, span.end));
    return typeof model === "string" && model !== "" ? model : null;
  } catch {
    return null;
  }
}

/** Unchanged, unless it can't fit: then what can be shortened without a store is. */
async function pass<M extends object>(exchange: Exchange<M>): Promise<void> {
  const { call, policy } = exchange;
  const messages = lengthRule(policy).ours === "fit" ? await fittingMessages(exchange) : null;
  const view = messages === null ? "verbatim" : "compacted";
  const answer = await askFor(exchange, { messages, body: bodyFor(exchange, { messages }) }, call.client.left);
  await relay(call, answer, { ...PASSED, "x-palimpsest-view": view });
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
    // An answer that isn't ours was given elsewhere.
    const seqs = await thread.claimed.thread.append(
      rest.map((message) => (shape.role(message) === "assistant" ? { message, origin: "import" } : { message })),
    );
    return { thread, asking, state, question: questionIn(rest, seqs, shape) };
  } catch (error) {
    await thread.claimed.release();
    throw error;
  }
}

/** What is wrong with the request is said; what is wrong with the store is nobody's business but ours. */
function orUnstored(error: unknown): null {
  if (ProblemError.isInstance(error)) throw error;
  if (PalimpsestError.isInstance(error) && error.code === "bad-message")
    throw new ProblemError(400, "invalid", error.message);
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
