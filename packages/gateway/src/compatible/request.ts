/** A request as it was read: what it says, where it goes, what it is known by. */
import { checkThreadId } from "@palimpsest/core/log";
import { inTurns } from "palimpsest/internal/threads";
import { isProviderUser } from "../access/admit.ts";
import { ProblemError } from "../http/problem.ts";
import { repeatedName } from "../http/read-json.ts";
import type { Held } from "./answer.ts";
import { convertedAnswer } from "./converted-answer.ts";
import type { Asking, ClaimedThread, MatchingStore } from "./find.ts";
import type { Reading } from "./front.ts";
import { type ChainState, chainSteps, keyed, START } from "./match.ts";
import {
  cacheOf,
  groupOf,
  isSideCall,
  lengthRule,
  type Policy,
  type ProviderKey,
  policyOf,
  sessionSettings,
  type Target,
  targetOf,
} from "./policy.ts";
import type { Question } from "./prompt.ts";
import type { CompatibleCall, CompatibleDeps } from "./serve.ts";
import type { UpstreamAnswer } from "./upstream.ts";
import { askTarget, provenBy, requestBytes } from "./upstream.ts";
import type { Fields, Vendor, VendorRequest } from "./vendor.ts";
import { watchedStore } from "./watched-store.ts";

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

/*
 * Ids in a request that name what an account with a provider holds: files, containers, vector stores, stored answers. An
 * account knows no users of ours, so with the operator's key they may be anybody's. Looks at the places where providers
 * read such ids, and never into arguments and schemas of the client's own tools.
 */

/** By the provider's own path to them, below `/v1`. */
type AccountKind = "files" | "vector_stores" | "containers" | "responses" | "conversations";

/** Whether the caller may name whatever the account behind the target holds. */
export function mayNameAny(call: CompatibleCall, target: Target): boolean {
  return target.way !== "raw" || ownsAccount(call, target);
}

/** Throws the refusal of a request that names what isn't its caller's. */
function assertNamesOwn(
  call: CompatibleCall,
  { settings }: CompatibleDeps,
  { target, bytes, body }: { readonly target: Target; readonly bytes: Buffer; readonly body: Fields },
): void {
  if (mayNameAny(call, target) || !mayName(bytes)) return;
  // An item of a conversation that is named too is looked up there: `assertOwnReference` sees to the vendor's own.
  const isNamed = body["previous_response_id"] != null || body["conversation"] != null;
  const closed = heldIn(body).find(
    (held) => !(isNamed && held === "conversations") && !opens(settings.gateway.pass_through, held),
  );
  if (closed !== undefined) throw notYours(closed);
}

/** The same of a conversation that the provider is left to look up. */
export function assertOwnReference(
  call: CompatibleCall,
  { settings }: CompatibleDeps,
  { target, body }: { readonly target: Target; readonly body: Fields },
): void {
  if (mayNameAny(call, target)) return;
  const held =
    body["previous_response_id"] != null ? "responses" : body["conversation"] != null ? "conversations" : null;
  if (held !== null && !opens(settings.gateway.pass_through, held)) throw notYours(held);
}

/** False: none of the words is there, also not with one of its letters escaped. Bodies are long, and this is fast. */
export function mayName(bytes: Buffer): boolean {
  return WORDS.some((word) => bytes.includes(word));
}

const WORDS = [
  "file_id",
  "vector_store_ids",
  "container",
  "item_reference",
  "previous_response_id",
  "conversation",
].concat(["2", "3", "4", "5", "6", "7"].map((digit) => `\\u00${digit}`));

function opens(list: CompatibleDeps["settings"]["gateway"]["pass_through"], held: AccountKind): boolean {
  return list === "all" || list.some((entry) => entry.includes(` /v1/${held}`));
}

function heldIn(body: Fields): readonly AccountKind[] {
  const said = [body["messages"], body["input"]].flatMap((list) => (Array.isArray(list) ? list : []));
  const tools = Array.isArray(body["tools"]) ? body["tools"] : [];
  return [...said.flatMap(inPart), ...tools.flatMap(inTool), ...inContainer(body["container"])];
}

/** A message, an item, or a part of one. */
function inPart(value: unknown): readonly AccountKind[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, content, output, file, source, file_id: id } = value as Fields;
  const own: readonly AccountKind[] =
    type === "item_reference"
      ? ["conversations"]
      : CARRIES_FILE.has(String(type)) && [id, idOf(file), idOf(source)].some((one) => one != null)
        ? ["files"]
        : [];
  const inside = [content, output].flatMap((list) => (Array.isArray(list) ? list : [list]));
  return [...own, ...inside.flatMap(inPart)];
}

/** Parts from which a provider reads a file. */
const CARRIES_FILE = new Set(["file", "input_file", "input_image", "image", "document", "container_upload"]);

function idOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as Fields)["file_id"] : null;
}

function inTool(tool: unknown): readonly AccountKind[] {
  if (typeof tool !== "object" || tool === null) return [];
  const { vector_store_ids: stores, container } = tool as Fields;
  return [...(stores == null ? [] : (["vector_stores"] as const)), ...inContainer(container)];
}

/** Its id, or an object with it or with the files for a new one. */
function inContainer(container: unknown): readonly AccountKind[] {
  if (container == null) return [];
  if (typeof container !== "object") return ["containers"];
  const { id, file_ids: files } = container as Fields;
  return [...(id == null ? [] : (["containers"] as const)), ...(files == null ? [] : (["files"] as const))];
}

function notYours(held: AccountKind): ProblemError {
  const remedy = `send the content itself, bring the provider's own key as X-Provider-Key, or have the operator list a path of /v1/${held} in gateway.pass_through`;
  const message = `the request names something of the provider's account (${held.replace("_", " ")}), which isn't opened to your key: ${remedy}`;
  return new ProblemError(403, "provider-id", message);
}

/*
 * Whether a body can be read in one way only. Some servers take the first of two fields of a name, and some read names
 * without regard to case: what was checked here must be what they read.
 */

/** `names`: those of the parsed body. Null: it is clear; else what isn't, for the client. */
export async function unclearIn(bytes: Buffer, names: readonly string[]): Promise<string | null> {
  if (names.some((name) => name !== "model" && name.toLowerCase() === "model"))
    return "the body names its model in another spelling";
  const twice = await repeatedName(bytes);
  return twice === null ? null : `the body has ${JSON.stringify(twice.slice(0, 100))} more than once`;
}

/* Whose key a request to a provider spends: the operator's, or one that the client brought. */

export function keyIn({ providerKey, headers, caller }: CompatibleCall): ProviderKey | null {
  if (providerKey === null) return null;
  return { key: providerKey, by: headers.has("x-provider-key") ? "named" : "forwarded", only: isProviderUser(caller) };
}

/** An admin is the operator, and whoever brings the provider's own key spends that one: they may use the whole account. */
export function ownsAccount(call: CompatibleCall, { key }: Pick<Target, "key">): boolean {
  return isAdmin(call) || (key !== null && keyIn(call)?.key === key);
}

export function isAdmin({ caller: { role } }: CompatibleCall): boolean {
  return role === "admin";
}
