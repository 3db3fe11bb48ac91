/**
 * What a prompt would count: of what would really be sent, so that a client which compacts by itself sees no need to.
 * Nothing that the request says is kept.
 */

import { createMeter } from "@palimpsest/core/internal/tokens";
import { inTurns } from "palimpsest/internal/threads";
import { exactCounterFor } from "palimpsest/models";
import { ProblemError } from "../http/problem.ts";
import { fieldsOf } from "../http/read-json.ts";
import { findMatch } from "./find.ts";
import { withOwnTools } from "./own-tools/offer.ts";
import { cacheWhenCounted, isViewSent } from "./policy.ts";
import { assertOwnReference, identityOf, type ParsedRequest, parseRequest, storeOf, toolsFor } from "./request.ts";
import type { CompatibleCall, CompatibleDeps } from "./serve.ts";
import { askTarget, bytesOf, relay, requestBytes, type UpstreamAnswer } from "./upstream.ts";
import type { Vendor } from "./vendor.ts";

export async function count<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  vendor: Vendor<M>,
): Promise<void> {
  const read = await parseRequest(call, deps, vendor);
  if (read.kind === "problem") throw new ProblemError(400, "invalid", read.message);
  const parsed = withOwnTools(await heldFor(read.parsed));
  const { request, held } = parsed;
  if (request.reference !== null || held === null) assertOwnReference(call, deps, parsed);
  const view = parsed.policy.mode === "on" ? await viewOf(parsed).catch(() => UNKNOWN) : UNKNOWN;
  const { messages } = view;
  const edited = vendor.edited?.(parsed, messages ?? request.messages) ?? null;
  if (edited === null) return tell(parsed, await countOf(parsed, view), null);
  const after = await countOf(parsed, { ...view, messages: edited });
  return tell(parsed, after, await countOf(parsed, view));
}

/** Ways of the vendor to say where a conversation goes on count too. */
async function heldFor<M extends object>(parsed: ParsedRequest<M>): Promise<ParsedRequest<M>> {
  const { vendor, policy, call } = parsed;
  const mayHold = policy.mode === "on" && policy.compaction !== "native" && call.threads.store.matches !== undefined;
  return mayHold && vendor.hold !== undefined ? vendor.hold(parsed) : parsed;
}

/** In tokens, or as the provider says that it can't be counted. Null for the messages: as the client wrote them. */
type Counted = number | UpstreamAnswer;

async function countOf<M extends object>(
  parsed: ParsedRequest<M>,
  { messages, factor }: CountedView<M>,
): Promise<Counted> {
  const { call, vendor, bytes, body, request, target, held } = parsed;
  if (target.way === "raw") {
    const written = messages === null ? undefined : vendor.write({ body, request, messages });
    const asked = requestBytes(bytes, {
      model: request.model,
      target,
      field: vendor.field,
      messages: written,
      without: held?.withheld ?? [],
      ...toolsFor(parsed),
    });
    const place = { vendor, target, path: vendor.countPath! };
    const answer = await askTarget(call, place, { body: asked, signal: call.client.left });
    if (answer.status !== 404 && answer.status !== 405) return answer;
    for await (const _ of answer.body);
  }
  return Math.ceil((await estimate(parsed, messages ?? request.messages)) * factor);
}

/** The provider's own words where they say all of it. */
async function tell<M extends object>({ call, vendor }: ParsedRequest<M>, counted: Counted, before: Counted | null) {
  if (before === null && typeof counted !== "number") return relay(call, counted, FREE);
  const [tokens, original] = [await tokensIn(counted), before === null ? null : await tokensIn(before)];
  if (typeof tokens !== "number") return relay(call, tokens, FREE);
  if (original !== null && typeof original !== "number") return relay(call, original, FREE);
  answerWith(call, vendor.counted(tokens, original));
}

const FREE = { ours: {}, unreported: null };

async function tokensIn(counted: Counted): Promise<Counted> {
  if (typeof counted === "number" || counted.status !== 200) return counted;
  const text = (await bytesOf(counted.body)).toString();
  return Number(fieldsOf(JSON.parse(text))["input_tokens"]);
}

interface CountedView<M> {
  /** Null: they would be sent as they are. */
  readonly messages: readonly M[] | null;
  /** What the thread's own count, which rests on its provider's reports, comes to for an estimated token. */
  readonly factor: number;
}

const UNKNOWN = { messages: null, factor: 1 } as const;

async function viewOf<M extends object>(parsed: ParsedRequest<M>): Promise<CountedView<M>> {
  const { request, policy } = parsed;
  const { store, claim } = storeOf(parsed, cacheWhenCounted(parsed));
  if (store.matches === undefined || request.reference !== null) return UNKNOWN;
  const place = parsed.held?.place ?? null;
  const { identity } = await identityOf(parsed);
  const match =
    place === null
      ? await findMatch(store, identity)
      : ({ kind: "extended", thread: place.threadId, known: 0 } as const);
  if (match.kind !== "extended") return UNKNOWN;
  const claimed = await claim(match.thread);
  if (typeof claimed === "string") return UNKNOWN;
  try {
    const { system, tools } = request;
    const {
      messages,
      sources,
      count: counted,
    } = await claimed.thread.prompt({ fixed: { system, tools }, signal: parsed.call.client.left });
    const shown = messages.filter((_, index) => index < messages.length - 1 || sources[index] !== "added");
    const factor = counted.tokens / Math.max(1, await estimate(parsed, shown));
    if (place === null && !isViewSent(policy, await claimed.thread.changes())) return { messages: null, factor };
    return { messages: [...shown, ...request.messages.slice(match.known)], factor };
  } finally {
    await claimed.release();
  }
}

/** As the thread itself is counted before its provider has reported anything. */
async function estimate<M extends object>(
  { call, request, target, vendor }: ParsedRequest<M>,
  messages: readonly M[],
): Promise<number> {
  const { count: counter, prior, imageRule, frame } = await exactCounterFor({ model: target.model });
  const meter = createMeter(vendor.shape, { counter, imageRule, frame });
  const { system, tools } = request;
  await inTurns(meter.steps(messages, tools), call.client.left);
  const fixed = (system === "" ? 0 : meter.system(system)) + meter.tools(tools);
  return Math.ceil((fixed + meter.messages(messages)) * prior);
}

export function answerWith({ client, own }: CompatibleCall, body: unknown): void {
  client.head(200, { "content-type": "application/json", ...own });
  void client.write(Buffer.from(JSON.stringify(body)));
  client.end();
}
