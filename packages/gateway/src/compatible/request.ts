/** A parsed request: its content, its provider, its policy, and what identifies its thread. */

import { resolve } from "node:path";
import { checkThreadId, type RulesByScope } from "@palimpsest/core/internal/log";
import { inTurns, jsonSteps, rulesInFiles } from "palimpsest/internal/threads";
import { type Caller, isProviderUser } from "../access/admit.ts";
import { ProblemError } from "../http/problem.ts";
import { type JsonFields, repeatedName } from "../http/read-json.ts";
import { type AccountKind, heldSteps, mayName, referenceIn } from "./account-ids.ts";
import type { NamedAnswer, ServerThread } from "./answer.ts";
import { convertedAnswer } from "./converted-answer.ts";
import type { ClaimedThread, MatchingStore, RequestIdentity } from "./find.ts";
import type { BodyReading } from "./front.ts";
import { type ChainState, chainSteps, keyed, keyedSteps, START } from "./match.ts";
import type { OwnTools, ToolsOnThread } from "./own-tools/offer.ts";
import {
  cacheOf,
  groupOf,
  isSideCall,
  lengthRule,
  type ProviderKey,
  type ProviderTarget,
  policyOf,
  type RequestPolicy,
  sessionSettings,
  targetOf,
} from "./policy.ts";
import type { NewQuestion } from "./prompt.ts";
import type { CompatibleCall, CompatibleDeps } from "./serve.ts";
import { askTarget, provenBy, requestBytes, type UpstreamAnswer } from "./upstream.ts";
import type { Vendor, VendorRequest } from "./vendor.ts";

/** A request that was read, and where it goes. */
export interface ParsedRequest<M extends object> {
  readonly call: CompatibleCall;
  readonly deps: CompatibleDeps;
  readonly vendor: Vendor<M>;
  readonly bytes: Buffer;
  readonly body: JsonFields;
  readonly reading: BodyReading<M>;
  readonly request: VendorRequest<M>;
  readonly target: ProviderTarget;
  readonly policy: RequestPolicy;
  /** What it says about server-side state; null if nothing. */
  readonly held: ServerThread<M> | null;
  /** Tools of ours in its `tools`; null if they are off. */
  readonly ownTools: OwnTools | null;
  readonly startedAt: Date;
  /** SHA-256 of the body; null if not computed. */
  readonly hash: string | null;
}

export interface ClaimedRequest<M extends object> {
  readonly claimed: ClaimedThread<M>;
  readonly identity: RequestIdentity<M>;
  /** The hash chain after the request. */
  readonly state: ChainState;
  /** The new question; null if the request only continues an earlier one. */
  readonly question: NewQuestion | null;
  /** The id of the answer and what is kept of it; null if the provider's id is used. */
  readonly named: NamedAnswer<M> | null;
  /** Tools of ours that its model may call; null if none are offered. */
  readonly tools: ToolsOnThread<M> | null;
}

type RequestResult<M extends object> =
  | { readonly kind: "parsed"; readonly parsed: ParsedRequest<M> }
  /** The vendor would not take it; `pass` sends it there all the same, to hear it in the vendor's words. */
  | {
      readonly kind: "problem";
      readonly message: string;
      readonly target: ProviderTarget;
      readonly body: JsonFields;
      readonly sent: Buffer;
    };

export async function parseRequest<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  vendor: Vendor<M>,
  policy: RequestPolicy = policyOf(call.headers, deps.settings, call.caller.userId),
): Promise<RequestResult<M>> {
  const startedAt = call.threads.clock();
  const bytes = await call.body();
  const { field, shape } = vendor;
  const reading = await deps.fronts.read(bytes, { user: call.caller.userId, field, shape });
  if (reading === null) throw new ProblemError(400, "bad-json", "the body is no JSON object");
  const { body } = reading;
  assertMessages(body[field], deps.settings.gateway.request_messages);
  const { model } = body;
  if (typeof model !== "string" || model === "") throw new ProblemError(400, "invalid", "the request names no model");
  const unclear = await unclearIn(reading.fresh, Object.keys(body));
  if (unclear !== null) throw new ProblemError(400, "invalid", unclear);
  const target = targetFor(call, deps, { vendor, model });
  await assertNamesOwn(call, deps, { target, bytes, body });
  const read = vendor.read(body, reading.checked);
  if (read.kind === "problem") {
    const sent = requestBytes(bytes, { model, target, field: vendor.field });
    return { kind: "problem", message: read.message, target, body, sent };
  }
  const { request } = read;
  const parsed: ParsedRequest<M> = {
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
    ownTools: null,
    startedAt,
    hash: null,
  };
  return { kind: "parsed", parsed };
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
): ProviderTarget {
  const { models, summarization } = settings;
  const table = { models, fallbackWindow: summarization.fallback_context_window, env };
  const target = targetOf(vendor, { model, providerKey: keyIn(call) }, table);
  if (target !== null) return target;
  const names = models.map(({ name }) => name).join(", ");
  const hint = isProviderUser(call.caller) ? "or your key is another vendor's" : `there are: ${names}`;
  throw new ProblemError(404, "no-model", `the model ${JSON.stringify(model)} is not known here; ${hint}`);
}

/** The store, which fails if it is silent for too long, and how this request claims one of its threads. */
export function storeOf<M extends object>(parsed: ParsedRequest<M>, cache = cacheOf(parsed)) {
  const { call, deps, vendor, target, policy } = parsed;
  const store = call.storeWithin(deps.silenceMs) as MatchingStore;
  const { shape } = vendor;
  const length = lengthRule(policy).ours;
  const claim = async (id: string) => {
    const standingRules = await standingRulesFor(deps, call.caller);
    return deps.open.claim({
      store,
      id,
      shape,
      label: JSON.stringify([target.entry.name, target.model, length, shape.dialect, cache, standingRules]),
      window: target.window,
      model: target.model,
      baseUrl: target.base,
      limits: deps.limits,
      bindsReasoning: target.entry.binds_reasoning,
      ...cache,
      ...sessionSettings(deps.settings, { store, thread: id, length, caller: call.caller }),
      standingRules,
    });
  };
  return { store, claim };
}

/** Copied into the log when the thread is opened, as an agent's run does; also where none are left, so that older copies end. */
async function standingRulesFor(
  { settings: { rules }, directory }: CompatibleDeps,
  { userId }: Caller,
): Promise<RulesByScope> {
  const files = rules.files.map((file) => resolve(directory, file));
  const file = files.length === 0 ? [] : await rulesInFiles(files);
  return { agent: rules.agent, user: rules.users[userId] ?? [], file };
}

/** The body for the provider; null where it speaks another protocol. Null for the messages: as the client wrote them. */
export function bodyFor<M extends object>(
  parsed: ParsedRequest<M>,
  { messages, cuts }: { readonly messages: readonly M[] | null; readonly cuts?: readonly M[] },
): Buffer | null {
  const { vendor, bytes, body, request, target, held } = parsed;
  if (target.way === "converted") return null;
  return requestBytes(bytes, {
    model: request.model,
    target,
    field: vendor.field,
    messages: messages === null ? undefined : vendor.write({ body, request, messages, cuts }),
    without: held?.withheld ?? [],
    ...toolsFor(parsed),
  });
}

/** Tools of ours go behind the client's; without any the field stays as it came. */
export function toolsFor<M extends object>({ ownTools }: ParsedRequest<M>): { readonly tools?: readonly unknown[] } {
  return ownTools === null || ownTools.names.length === 0 ? {} : { tools: ownTools.all };
}

export function askFor<M extends object>(
  parsed: ParsedRequest<M>,
  { messages, body }: { readonly messages: readonly M[] | null; readonly body: Buffer | null },
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const { call, vendor, request, target } = parsed;
  if (body === null) return provenBy(call, convertedAnswer(parsed, messages ?? request.messages, signal));
  return askTarget(call, { vendor, target, path: vendor.path }, { body, signal });
}

export async function identityOf<M extends object>({
  call,
  deps,
  vendor,
  body,
  reading,
  request,
  policy,
  held,
}: ParsedRequest<M>) {
  const { shape } = vendor;
  const { messages, system, tools } = request;
  const secret = Buffer.from(await deps.secret());
  // The client sent only a part of the conversation.
  const from = held?.place?.state ?? (held?.instead == null ? undefined : START);
  const { places, state } =
    from === undefined
      ? await reading.chain(request, secret, call.client.left)
      : await inTurns(chainSteps(messages, { shape, secret, from }), call.client.left);
  const fixed = (await inTurns(jsonSteps(["fixed", system, tools]))) ?? "";
  const group = groupOf(call.headers, body);
  const answers = places.filter(({ answer }) => answer !== null).length;
  const identity: RequestIdentity<M> = {
    places,
    messages,
    shape,
    secret,
    group: group === null ? null : keyed(secret, `group\n${group}`),
    fixed: await inTurns(keyedSteps(secret, fixed)),
    sideCall: held?.sideCall ?? (isSideCall({ ...request, answers }) ? "likely" : "no"),
    named: namedThread(call.headers),
    agentName: policy.agentName,
  };
  return { identity, state };
}

function namedThread(headers: Headers): string | null {
  const name = headers.get("x-palimpsest-thread");
  if (name === null) return null;
  const checked = checkThreadId(name);
  if (checked.kind === "invalid") throw new ProblemError(400, "bad-thread-id", checked.problem);
  return name;
}

/* Ids that name objects of an account with a provider: they are the operator's to open. */

/** Whether the caller may name whatever the account behind the target holds. */
export function mayNameAny(call: CompatibleCall, target: ProviderTarget): boolean {
  return target.way !== "raw" || ownsAccount(call, target);
}

/** Throws the refusal of a request that names what isn't its caller's. */
async function assertNamesOwn(
  call: CompatibleCall,
  { settings }: CompatibleDeps,
  { target, bytes, body }: { readonly target: ProviderTarget; readonly bytes: Buffer; readonly body: JsonFields },
): Promise<void> {
  if (mayNameAny(call, target) || !mayName(bytes)) return;
  // An item of a conversation that is named too is looked up there: `assertOwnReference` sees to the vendor's own.
  const isNamed = body["previous_response_id"] != null || body["conversation"] != null;
  const closed = [...(await inTurns(heldSteps(body)))].find(
    (held) => !(isNamed && held === "conversations") && !opens(settings.gateway.pass_through, held),
  );
  if (closed !== undefined) throw notYours(closed);
}

/** The same of a conversation that the provider is left to look up. */
export function assertOwnReference(
  call: CompatibleCall,
  { settings }: CompatibleDeps,
  { target, body }: { readonly target: ProviderTarget; readonly body: JsonFields },
): void {
  if (mayNameAny(call, target)) return;
  const held = referenceIn(body);
  if (held !== null && !opens(settings.gateway.pass_through, held)) throw notYours(held);
}

function opens(list: CompatibleDeps["settings"]["gateway"]["pass_through"], held: AccountKind): boolean {
  return list === "all" || list.some((entry) => entry.includes(` /v1/${held}`));
}

function notYours(held: AccountKind): ProblemError {
  const remedy = `send the content itself, bring the provider's own key as X-Provider-Key, or have the operator list a path of /v1/${held} in gateway.pass_through`;
  const message = `the request names something of the provider's account (${held.replace(/[_/]/, " ")}), which isn't opened to your key: ${remedy}`;
  return new ProblemError(403, "provider-id", message);
}

/*
 * Ambiguous bodies. Some servers take the first of two fields with one name, some ignore case: what is checked here must be
 * what they read.
 */

/** `names`: those of the parsed body. Null: it is clear; else what isn't, for the client. */
export async function unclearIn(bytes: Buffer, names: readonly string[]): Promise<string | null> {
  if (names.some((name) => name !== "model" && name.toLowerCase() === "model"))
    return "the body names its model in another spelling";
  const twice = await repeatedName(bytes);
  return twice === null ? null : `the body has ${JSON.stringify(twice.slice(0, 100))} more than once`;
}

/* The provider key of a request: the operator's, or one that the client sent. */

export function keyIn({ providerKey, headers, caller }: CompatibleCall): ProviderKey | null {
  if (providerKey === null) return null;
  return { key: providerKey, by: headers.has("x-provider-key") ? "named" : "forwarded", only: isProviderUser(caller) };
}

/** An admin and a caller with the provider's own key may use the whole account at the provider. */
export function ownsAccount(call: CompatibleCall, { key }: Pick<ProviderTarget, "key">): boolean {
  return isAdmin(call) || (key !== null && keyIn(call)?.key === key);
}

export function isAdmin({ caller: { role } }: CompatibleCall): boolean {
  return role === "admin";
}
