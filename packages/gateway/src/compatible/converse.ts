/**
 * One request of a conversation: find its thread, write the new messages, ask the provider, pass the answer through and log
 * it. The provider gets the client's own bytes, or the view once something is hidden. If something of ours fails, the client
 * still gets its answer.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { Shape } from "@palimpsest/core/internal/message";
import { pace, titleOf } from "palimpsest/internal/threads";
import type { OpenThread } from "palimpsest/session";
import { isBrokenOff, ProblemError } from "../http/problem.ts";
import { wholeFields } from "../http/read-json.ts";
import { mayName } from "./account-ids.ts";
import { answerInstead, answerThrough } from "./answer.ts";
import { claimMatch, claimPlace, findMatch } from "./find.ts";
import { joinElsewhere } from "./flight.ts";
import { notePassed } from "./outcome.ts";
import { lengthRule, policyOf } from "./policy.ts";
import { fittingMessages, questionIn } from "./prompt.ts";
import {
  askFor,
  assertOwnReference,
  bodyFor,
  type ClaimedRequest,
  identityOf,
  mayNameAny,
  type ParsedRequest,
  parseRequest,
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
  const read = await parseRequest(bytes === null ? call : { ...call, body: async () => bytes }, deps, vendor, policy);
  if (read.kind === "problem") {
    const { target, sent, message } = read;
    assertOwnReference(call, deps, read);
    if (target.way === "converted") throw new ProblemError(400, "invalid", message);
    const place = { vendor, target, path: vendor.path };
    const answer = await askTarget(call, place, { body: sent, signal: call.client.left });
    return relay(call, answer, { ours: PASSED, unreported: { textBytes: sent.length } });
  }
  return converseWith(await heldOf(read.parsed));
}

/** Also for requests that continue a thread of the vendor's server-side state. */
export async function converseWith<M extends object>(read: ParsedRequest<M>): Promise<void> {
  const { call, deps, policy, request } = read;
  if (request.reference !== null || read.held === null) assertOwnReference(call, deps, read);
  if (policy.mode === "off" || request.reference !== null || call.threads.store.matches === undefined)
    return pass(read);
  const hash = await read.reading.digest();
  const flightKey = flightOf(call, hash);
  const parsed = { ...read, hash };
  const flying = deps.flights.get(flightKey);
  if (flying !== undefined && isRetry(call.headers) && !flying.isHeard()) return flying.attach(asJoined(call.client));
  if (flying === undefined && isRetry(call.headers) && (await joinedElsewhere(call, flightKey))) return;
  if (call.isStranger() && parsed.held?.instead == null) return introduce(parsed, flightKey);
  const turn = await engage(parsed).catch((error: unknown) => orUnstored(call, error));
  if (turn === null && parsed.held?.unread != null) throw parsed.held.unread;
  if (turn === null && parsed.held?.place != null)
    throw new ProblemError(503, "store-silent", "the conversation can't be read at the moment: try again");
  if (turn === null) return pass(parsed);
  if (parsed.held?.instead != null) return answerInstead(parsed, turn, parsed.held.instead);
  return answerThrough(parsed, turn, flightKey);
}

/** Reads what the request says about server-side state, if we keep it; otherwise the vendor gets the request as it came. */
async function heldOf<M extends object>(parsed: ParsedRequest<M>): Promise<ParsedRequest<M>> {
  const { vendor, policy, target, call } = parsed;
  if (vendor.hold === undefined || policy.mode !== "on" || call.threads.store.matches === undefined) {
    vendor.leave?.(parsed);
    return parsed;
  }
  // With native compaction the vendor keeps the state itself.
  return policy.compaction === "native" && target.way === "raw" ? parsed : vendor.hold(parsed);
}

const PASSED = { "x-palimpsest-match": "passed", "x-palimpsest-view": "verbatim" };

/** Mode `off`: a provider of the same protocol gets the body, of which only the model is read. */
async function passUnread<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  { vendor, bytes }: { readonly vendor: Vendor<M>; readonly bytes: Buffer },
): Promise<"passed" | "unclear"> {
  const model = await modelIn(bytes);
  if (model === null) return "unclear";
  const target = targetFor(call, deps, { vendor, model });
  if (target.way !== "raw" || (!mayNameAny(call, target) && mayName(bytes))) return "unclear";
  const body = requestBytes(bytes, { model, target, field: vendor.field });
  const place = { vendor, target, path: vendor.path };
  const answer = await askTarget(call, place, { body, signal: call.client.left });
  await relay(call, answer, { ours: PASSED, unreported: { textBytes: body.length } });
  return "passed";
}

/** Null if the body names no model, is not a JSON object, or is ambiguous. */
async function modelIn(bytes: Buffer): Promise<string | null> {
  try {
    const fields = wholeFields(bytes);
    const names = fields?.map(({ name }) => name) ?? null;
    if (names === null || (await unclearIn(bytes, names)) !== null) return null;
    const span = fields?.find(({ name }) => name === "model");
    const model: unknown = span === undefined ? null : JSON.parse(bytes.toString("utf8", span.start, span.end));
    return typeof model === "string" && model !== "" ? model : null;
  } catch {
    return null;
  }
}

/** For a provider key that no provider has accepted yet: ask first, and write nothing if it is refused. */
async function introduce<M extends object>(parsed: ParsedRequest<M>, flightKey: string): Promise<void> {
  const { call } = parsed;
  const asked = await askUnkept(parsed);
  const mayKeep = !call.isStranger() && asked.view === "verbatim";
  const turn = mayKeep ? await engage(parsed).catch((error: unknown) => orUnstored(call, error)) : null;
  return turn === null ? passOn(parsed, asked) : answerThrough(parsed, turn, flightKey, asked.answer);
}

async function pass<M extends object>(parsed: ParsedRequest<M>): Promise<void> {
  return passOn(parsed, await askUnkept(parsed));
}

/** Sends the request unchanged, or shortened by rules if it can't fit the window. */
async function askUnkept<M extends object>(parsed: ParsedRequest<M>) {
  const { call, policy } = parsed;
  const messages = lengthRule(policy).ours === "fit" ? await fittingMessages(parsed) : null;
  const view = messages === null ? ("verbatim" as const) : ("compacted" as const);
  const body = bodyFor(parsed, { messages });
  const answer = await askFor(parsed, { messages, body }, call.client.left);
  return { answer, view, unreported: { textBytes: (body ?? parsed.bytes).length } };
}

async function passOn<M extends object>(
  parsed: ParsedRequest<M>,
  { answer, view, unreported }: Awaited<ReturnType<typeof askUnkept>>,
): Promise<void> {
  const { call, policy } = parsed;
  await relay(call, answer, { ours: { ...PASSED, "x-palimpsest-view": view }, unreported });
  // In mode `off` nothing is kept, not even the facts of the request.
  if (policy.mode !== "off") notePassed(parsed, { status: answer.status, view });
}

/** Finds and claims the thread and appends the new messages. Null for a side call, or if the thread was deleted meanwhile. */
async function engage<M extends object>(parsed: ParsedRequest<M>): Promise<ClaimedRequest<M> | null> {
  const { call, vendor } = parsed;
  const { shape } = vendor;
  const { store, claim } = storeOf(parsed);
  const { identity, state } = await identityOf(parsed);
  const context = { deps: { ...call.threads, store }, identity, claim };
  const place = parsed.held?.place ?? null;
  const match = place === null ? await findMatch(store, identity) : null;
  if (match?.kind === "passed") return null;
  const claimed = match === null ? await claimPlace<M>(place!, context) : await claimMatch<M>(match, context);
  if (claimed === null) return null;
  try {
    const rest = parsed.request.messages.slice(claimed.known);
    const bytesOfOne = parsed.bytes.length / Math.max(1, parsed.request.messages.length);
    const atOnce = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor(BYTES_AT_ONCE / bytesOfOne)));
    const title = claimed.outcome === "new" ? titleOfFirst(parsed) : "";
    const seqs = await appendInTurns(rest, claimed.thread, { shape, atOnce, left: call.client.left, title });
    return { claimed, identity, state, named: null, tools: null, question: questionIn(rest, seqs, shape) };
  } catch (error) {
    await claimed.release();
    throw error;
  }
}

/** Messages, and about how many bytes of them, that are written in one transaction. */
const MOST_AT_ONCE = 500;
const BYTES_AT_ONCE = 2_000_000;

/** The client repeats its question until it is answered, so only the answer waits for the disk. */
const BY_ITSELF = { flush: "later" } as const;

/** The user's first words; clients put what they add of their own in parts before them. Empty: no title. */
function titleOfFirst<M extends object>({ policy, request, vendor: { shape } }: ParsedRequest<M>): string {
  if (policy.titleWords === null) return "";
  const first = request.messages.find((message) => shape.role(message) === "user");
  const texts =
    first === undefined ? [] : shape.parts(first).flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return titleOf(texts.at(-1) ?? "", { maxWords: policy.titleWords });
}

interface AppendOptions<M> {
  readonly shape: Shape<M>;
  readonly atOnce: number;
  readonly left: AbortSignal;
  /** Of a new thread; empty otherwise. */
  readonly title: string;
}

/** Appends all messages in batches. Stops when the client leaves; a retry continues there. */
async function appendInTurns<M extends object>(
  messages: readonly M[],
  thread: OpenThread<M>,
  { shape, atOnce, left, title }: AppendOptions<M>,
): Promise<readonly number[]> {
  const steps = pace(left);
  const seqs: number[] = [];
  for (let at = 0; at < messages.length; at += atOnce) {
    left.throwIfAborted();
    if (steps.isDue()) await steps.turn();
    // An assistant message that we did not log was generated elsewhere.
    const given = messages
      .slice(at, at + atOnce)
      .map((message) => (shape.role(message) === "assistant" ? ({ message, origin: "import" } as const) : { message }));
    const also = at === 0 && title !== "" ? { ...BY_ITSELF, state: { title } } : BY_ITSELF;
    seqs.push(...(await thread.append(given, () => also)));
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

/** Key of an answer under way: same caller, same path, same bytes. */
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
