/** A request as it was read: what it says, where it goes, what it is known by. */
import { checkThreadId } from "@palimpsest/core/log";
import { inTurns } from "palimpsest/internal/threads";
import { isProviderUser } from "../access/admit.ts";
import { ProblemError } from "../http/problem.ts";
import { assertNamesOwn } from "./account-ids.ts";
import { cacheOf } from "./cached.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { convertedAnswer } from "./converted/answer.ts";
import type { Question } from "./evidence.ts";
import { groupOf, isSideCall } from "./groups.ts";
import type { Held } from "./held.ts";
import { type ChainState, chainSteps, keyed, START } from "./matching/chain.ts";
import type { Reading } from "./matching/front-memory.ts";
import { type Target, targetOf } from "./models.ts";
import { unclearIn } from "./named-model.ts";
import { lengthRule, type Policy, policyOf } from "./policy.ts";
import { askTarget, provenBy, requestBytes } from "./relay.ts";
import { sessionSettings } from "./session-settings.ts";
import type { ClaimedThread } from "./threads/claim.ts";
import type { Asking, MatchingStore } from "./threads/find.ts";
import { watchedStore } from "./threads/watched-store.ts";
import type { Fields, Vendor, VendorRequest } from "./vendor.ts";
import { keyIn } from "./whose-key.ts";
import type { UpstreamAnswer } from "./wire/upstream.ts";

/** A request that was read, and where it goes. */
export interface Exchange<M extends object> {
  readonly call: CompatibleCall;
  readonly deps: CompatibleDeps;
  readonly vendor: Vendor<M>;
  readonly bytes: Buffer;
  readonly body: Fields;
  /** How the bytes were read. */
  readonly reading: Reading<M>;
  readonly request: VendorRequest<M>;
  readonly target: Target;
  readonly policy: Policy;
  /** What it says of a conversation that is held for it; null: nothing. */
  readonly held: Held<M> | null;
  readonly startedAt: Date;
  /** Of the bytes; null where nobody needs it. */
  readonly hash: string | null;
}

export interface Engaged<M extends object> {
  readonly thread: ClaimedThread<M>;
  readonly asking: Asking<M>;
  /** Where the chain stands after the request. */
  readonly state: ChainState;
  /** What is new in it and waits for an answer; null: it goes on with an earlier one. */
  readonly question: Question | null;
}

type ReadExchange<M extends object> =
  | { readonly kind: "exchange"; readonly exchange: Exchange<M> }
  /** The vendor would not take it; `pass` sends it there all the same, to hear it in the vendor's words. */
  | { readonly kind: "problem"; readonly message: string; readonly target: Target; readonly sent: Buffer };

export async function readExchange<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  vendor: Vendor<M>,
): Promise<ReadExchange<M>> {
  const startedAt = call.threads.clock();
  const bytes = await call.body();
  const { field, shape } = vendor;
  const reading = await deps.fronts.read(bytes, { user: call.caller.userId, field, shape });
  if (reading === null) throw new ProblemError(400, "bad-json", "the body is no JSON object");
  const { body } = reading;
  assertMessages(body[field], deps.settings.gateway.request_messages);
  const { model } = body;
  if (typeof model !== "string" || model === "") throw new ProblemError(400, "invalid", "the request names no model");
  const unclear = await unclearIn(bytes, Object.keys(body));
  if (unclear !== null) throw new ProblemError(400, "invalid", unclear);
  const target = targetFor(call, deps, { vendor, model });
  assertNamesOwn(call, deps, { target, bytes, body });
  const read = vendor.read(body, reading.checked);
  if (read.kind === "problem") {
    const sent = requestBytes(bytes, { model, target, field: vendor.field });
    return { kind: "problem", message: read.message, target, sent };
  }
  const { request } = read;
  const policy = policyOf(call.headers, deps.settings, call.caller.userId);
  const exchange: Exchange<M> = {
    call,
    deps,
    vendor,
    bytes,
    body,
    reading,
    request,
    target,
    policy,
    held: null,
    startedAt,
    hash: null,
  };
  return { kind: "exchange", exchange };
}

function assertMessages(list: unknown, most: number): void {
  if (!Array.isArray(list) || list.length <= most) return;
  const message = `the request has ${list.length} messages, and at most ${most} are taken here (gateway.request_messages)`;
  throw new ProblemError(413, "too-many-messages", message);
}

export function targetFor(
  call: CompatibleCall,
  { settings, env }: CompatibleDeps,
  { vendor, model }: { readonly vendor: Parameters<typeof targetOf>[0]; readonly model: string },
): Target {
  const { models, summarization } = settings;
  const table = { models, fallbackWindow: summarization.fallback_context_window, env };
  const target = targetOf(vendor, { model, providerKey: keyIn(call) }, table);
  if (target !== null) return target;
  const names = models.map(({ name }) => name).join(", ");
  const hint = isProviderUser(call.caller) ? "or your key is another vendor's" : `there are: ${names}`;
  throw new ProblemError(404, "no-model", `the model ${JSON.stringify(model)} is not known here; ${hint}`);
}

/** The store as far as it answers in time, and threads of it as this request would hold them. */
export function storeOf<M extends object>(exchange: Exchange<M>, cache = cacheOf(exchange)) {
  const { call, deps, vendor, target, policy } = exchange;
  const store = watchedStore(call.threads.store, deps.silenceMs) as MatchingStore;
  const { shape } = vendor;
  const length = lengthRule(policy).ours;
  const claim = (id: string) =>
    deps.open.claim({
      store,
      id,
      shape,
      label: JSON.stringify([target.entry.name, target.model, length, shape.dialect, cache]),
      window: target.window,
      model: target.model,
      baseUrl: target.base,
      limits: deps.limits,
      bindsReasoning: target.entry.binds_reasoning,
      ...cache,
      ...sessionSettings(deps.settings, { store, thread: id, length, caller: call.caller }),
    });
  return { store, claim };
}

/** The body for the provider; null where it speaks another protocol. Null for the messages: as the client wrote them. */
export function bodyFor<M extends object>(
  exchange: Exchange<M>,
  { messages, cuts }: { readonly messages: readonly M[] | null; readonly cuts?: readonly M[] },
): Buffer | null {
  const { vendor, bytes, body, request, target, held } = exchange;
  if (target.way === "converted") return null;
  return requestBytes(bytes, {
    model: request.model,
    target,
    field: vendor.field,
    messages:
      messages === null ? undefined : vendor.write({ body, request, messages, ...(cuts !== undefined && { cuts }) }),
    without: held?.withheld ?? [],
  });
}

/** Asks the provider. */
export function askFor<M extends object>(
  exchange: Exchange<M>,
  { messages, body }: { readonly messages: readonly M[] | null; readonly body: Buffer | null },
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const { call, vendor, request, target } = exchange;
  if (body === null) return provenBy(call, convertedAnswer(exchange, messages ?? request.messages, signal));
  return askTarget(call, { vendor, target, path: vendor.path }, { body, signal });
}

/** What the request is known by. */
export async function askingOf<M extends object>({
  call,
  deps,
  vendor,
  body,
  reading,
  request,
  policy,
  held,
}: Exchange<M>) {
  const { shape } = vendor;
  const { messages, system, tools } = request;
  const secret = Buffer.from(await deps.secret());
  // What the client wrote is not all of it, or not only messages.
  const from = held?.place?.state ?? (held?.instead == null ? undefined : START);
  const { places, state } =
    from === undefined
      ? await reading.chain(request, secret)
      : await inTurns(chainSteps(messages, { shape, secret, from }));
  const group = groupOf(call.headers, body);
  const answers = places.filter(({ answer }) => answer !== null).length;
  const asking: Asking<M> = {
    places,
    messages,
    shape,
    secret,
    group: group === null ? null : keyed(secret, `group\n${group}`),
    fixed: keyed(secret, JSON.stringify(["fixed", system, tools])),
    sideCall: held?.sideCall ?? (isSideCall({ ...request, answers }) ? "likely" : "no"),
    named: namedThread(call.headers),
    agentName: policy.agentName,
  };
  return { asking, state };
}

function namedThread(headers: Headers): string | null {
  const name = headers.get("x-palimpsest-thread");
  if (name === null) return null;
  const checked = checkThreadId(name);
  if (checked.kind === "invalid") throw new ProblemError(400, "bad-thread-id", checked.problem);
  return name;
}
