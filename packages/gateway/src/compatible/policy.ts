/** What a request asks of the gateway beside its answer: by its headers, else by the configuration. Pure. */

import type { ConfigFile } from "palimpsest/home";
import { configuredWriter } from "palimpsest/internal/compaction";
import { summarizationForThreads } from "palimpsest/internal/config";
import { checkScope } from "palimpsest/internal/memory";
import { bindsReasoning, cachePrices, keyOf, OFFLINE, pricingOf, windowOf } from "palimpsest/internal/models";
import type { ModelEntry } from "palimpsest/models";
import type { OpenThreadOptions } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { type Caller, isProviderUser } from "../access/admit.ts";
import { ProblemError } from "../http/problem.ts";
import { fieldsOf, type JsonFields, parseFields } from "../http/read-json.ts";
import type { ParsedRequest } from "./request.ts";
import type { Vendor } from "./vendor.ts";

const MODES = ["on", "observe", "off"] as const;
const COMPACTIONS = ["ours", "native", "off"] as const;
const SWITCH = ["on", "off"] as const;

export interface RequestPolicy {
  readonly mode: (typeof MODES)[number];
  /** Who shortens a prompt that is too long: this gateway, the vendor by its own parameters, or neither. */
  readonly compaction: (typeof COMPACTIONS)[number];
  /** Whether hidden turns that matter are shown with the question. */
  readonly evidence: (typeof SWITCH)[number];
  /** The same for what is remembered of the user, and whether more is learned. */
  readonly memory: (typeof SWITCH)[number];
  /** Whether tools of ours are offered to the model beside the client's. */
  readonly tools: (typeof SWITCH)[number];
  readonly agentName: string;
  /** Most words of a new thread's title; null: it gets none. */
  readonly titleWords: number | null;
}

/** Throws what a client is told of a header that can't be meant. */
export function policyOf(
  headers: Headers,
  { gateway, title }: Pick<ConfigFile, "gateway" | "title">,
  userId: string,
): RequestPolicy {
  return {
    mode: chosen(headers, "Mode", MODES) ?? gateway.mode,
    compaction: chosen(headers, "Compaction", COMPACTIONS) ?? gateway.compaction,
    evidence: gateway.evidence ? "on" : "off",
    memory: chosen(headers, "Memory", SWITCH) ?? (gateway.memory ? "on" : "off"),
    tools: chosen(headers, "Tools", SWITCH) ?? (gateway.tools ? "on" : "off"),
    agentName: agentNamed(headers, userId),
    titleWords: title.enabled ? title.max_words : null,
  };
}

function agentNamed(headers: Headers, userId: string): string {
  const name = headers.get("x-palimpsest-agent");
  if (name === null) return "default";
  const checked = checkScope(userId, name);
  if (checked.kind === "invalid") throw new ProblemError(400, "invalid", `X-Palimpsest-Agent: ${checked.problem}`);
  return checked.scope.agentName ?? "default";
}

function chosen<T extends string>(headers: Headers, name: string, values: readonly T[]): T | null {
  const asked = headers.get(`x-palimpsest-${name.toLowerCase()}`);
  if (asked === null) return null;
  const value = values.find((one) => one === asked);
  if (value !== undefined) return value;
  throw new ProblemError(
    400,
    "invalid",
    `X-Palimpsest-${name} is ${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
  );
}

/** Whether what was said before is looked up for its question. */
export function looksUp({ mode, evidence, memory }: Pick<RequestPolicy, "mode" | "evidence" | "memory">): boolean {
  return mode === "on" && (evidence === "on" || memory === "on");
}

export interface LengthRule {
  /** `fit`: a prompt that is too long is made shorter here. `pass`: it goes on as long as it is. */
  readonly ours: "fit" | "pass";
  /** The vendor's own parameters to the same end: carried out here, or left in the request for the vendor. */
  readonly vendors: "serve" | "leave";
}

/** Two that shorten one prompt break each other's work: it is one of them, or none. */
export function lengthRule({ mode, compaction }: Pick<RequestPolicy, "mode" | "compaction">): LengthRule {
  return mode === "on" && compaction === "ours"
    ? { ours: "fit", vendors: "serve" }
    : { ours: "pass", vendors: "leave" };
}

/** What became of the log's messages: some are hidden, words were erased, evidence was added to a question. */
export interface ViewChanges {
  readonly hidden: boolean;
  readonly erased: boolean;
  readonly added: boolean;
}

/** Whose messages are sent. Erased words stay erased and added ones stay added under every policy. */
export function isViewSent(
  policy: Pick<RequestPolicy, "mode" | "compaction">,
  { hidden, erased, added }: ViewChanges,
): boolean {
  if (policy.mode !== "on") return false;
  return erased || added || (hidden && lengthRule(policy).ours === "fit");
}

/* From the model that a request names to its provider. Only the configuration decides, never the request. */

export interface ProviderTarget {
  readonly entry: ModelEntry;
  /** What the provider calls the model. */
  readonly model: string;
  readonly window: number;
  /** `raw`: it speaks the protocol of the request. */
  readonly way: "raw" | "converted";
  /** With the path of the protocol; null where it is converted. */
  readonly base: string | null;
  readonly key: string | null;
}

/** Whether the model refuses a thought of its own once anything before it has changed. */
export function bindsThoughts({ entry, model }: ProviderTarget): boolean {
  return entry.binds_reasoning ?? bindsReasoning(model);
}

export interface ProviderKey {
  readonly key: string;
  /** `forwarded`: the client's own credential, which is sent to the vendor only. */
  readonly by: "named" | "forwarded";
  /** The caller showed no other credential, so requests may not be charged to the operator's account. */
  readonly only: boolean;
}

interface ModelTable {
  readonly models: readonly ModelEntry[];
  readonly fallbackWindow: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Null: no entry has this name. `providerKey`: the client's own, for a model that isn't listed at a vendor that is. For who
 * has nothing but a key that is meant for one vendor, the entries of all others are not there.
 */
export function targetOf(
  vendor: Pick<Vendor<never>, "providers" | "address">,
  { model, providerKey }: { readonly model: string; readonly providerKey: ProviderKey | null },
  { models, fallbackWindow, env }: ModelTable,
): ProviderTarget | null {
  const mayUse = (entry: ModelEntry): boolean =>
    entry === OFFLINE || providerKey?.only !== true || isFor(providerKey, vendor, entry);
  const listed = models.find(({ name }) => name === model) ?? models.find((entry) => entry.model === model);
  const speaking =
    providerKey === null
      ? undefined
      : models.find((entry) => vendor.providers.includes(entry.provider) && mayUse(entry));
  const entry = listed ?? speaking ?? (models.length === 0 ? OFFLINE : null);
  if (entry === null || !mayUse(entry)) return null;
  const isRaw = vendor.providers.includes(entry.provider);
  const named = listed === undefined && entry.provider !== "offline" ? model : entry.model;
  return {
    entry,
    model: named,
    window: windowOf({ ...entry, model: named }, fallbackWindow).tokens,
    way: isRaw ? "raw" : "converted",
    base: isRaw ? (entry.base_url ?? vendor.address).replace(/(?<!\/)\/+$/, "") : null,
    key: providerKey !== null && isFor(providerKey, vendor, entry) ? providerKey.key : (keyOf(entry, env) ?? null),
  };
}

/** A forwarded key is its vendor's; `openai-compatible` is the server that the operator configured, not OpenAI. */
function isFor(
  { by }: ProviderKey,
  { providers }: Pick<Vendor<never>, "providers">,
  { provider }: ModelEntry,
): boolean {
  return by === "named" || (providers.includes(provider) && provider !== "openai-compatible");
}

/* How threads are compacted: as configured, by a model only if one is meant for summaries. */

interface SessionRequest {
  readonly store: Store;
  readonly thread: string;
  readonly length: LengthRule["ours"];
  readonly caller: Caller;
}

type SessionSettings = Pick<OpenThreadOptions<object>, "summarization" | "writer">;

export function sessionSettings(
  settings: ConfigFile,
  { store, thread, length, caller }: SessionRequest,
): SessionSettings {
  if (length === "pass") return { summarization: false };
  const chosen = summarizationForThreads(settings.summarization);
  const { policy, prune, drafts, reservedOutputTokens, summaryPrompt, maxSummarizerCalls } = chosen;
  const summarization = { ...policy, prune, drafts, reservedOutputTokens, summaryPrompt, maxSummarizerCalls };
  // The model of the conversation writes no summary unasked: it costs, and the client would wait for it. For a caller with
  // only a provider's key none is written with the operator's key.
  const hasWriter =
    !isProviderUser(caller) &&
    (settings.summarization.model_name !== null || settings.models.some(({ lightweight }) => lightweight));
  const writer = hasWriter ? configuredWriter(settings, chosen, { store, threadId: thread }) : null;
  return { summarization, ...(writer !== null && { writer }) };
}

/* The provider's prompt cache and its prices, which decide when a thread is pruned. Pure. */

type CacheOptions = Required<Pick<OpenThreadOptions<object>, "prices" | "promptCache">>;

export function cacheOf<M extends object>({ vendor, body, request, target }: ParsedRequest<M>): CacheOptions {
  const { entry, model, way } = target;
  const given = pricingOf(entry);
  // What is put into another vendor's words carries no marks.
  if (way === "converted")
    return { prices: given ?? undefined, promptCache: entry.provider === "anthropic" ? "none" : "prefix" };
  const { promptCache, ttl } = vendor.cached?.(body, request) ?? { promptCache: "prefix", ttl: null };
  if (ttl === null) return { prices: given ?? undefined, promptCache };
  const prices = cachePrices(model, given);
  return {
    prices: { ...prices, cacheWrite: given?.cacheWrite ?? prices.input * HOUR_WRITES, ttlMs: HOUR_MS },
    promptCache,
  };
}

/** A request that is only counted needs no marks, and so says nothing of those that the conversation has. */
export function cacheWhenCounted<M extends object>(parsed: ParsedRequest<M>): CacheOptions {
  const cache = cacheOf(parsed);
  return cache.promptCache === "none" ? { ...cache, promptCache: "end" } : cache;
}

/** Anthropic's price of an entry that lives for an hour, in prices of input. */
const HOUR_WRITES = 2;
const HOUR_MS = 60 * 60_000;

/* Session ids that programs send: one for all of their conversations. They narrow the search for a thread, but never decide. */

const HEADERS = [
  "x-claude-code-session-id",
  "x-session-affinity",
  "x-opencode-session",
  "x-session-id",
  "session-id",
  "session_id",
  "x-qwen-code-session-id",
  "x-grok-session-id",
  "x-openwebui-chat-id",
] as const;

export function groupOf(headers: Headers, body: JsonFields): string | null {
  for (const name of HEADERS) {
    const value = headers.get(name);
    if (value !== null && value !== "") return `${name}\n${value}`;
  }
  const { metadata } = body;
  const user = fieldsOf(metadata)["user_id"];
  const session = typeof user === "string" ? sessionIn(user) : null;
  return session === null ? null : `session\n${session}`;
}

/** As Claude Code writes it: today as JSON, earlier at the end of a name. */
function sessionIn(written: string): string | null {
  const named = /_session_(.+)$/s.exec(written)?.[1];
  if (named !== undefined || !written.startsWith("{")) return named ?? null;
  const session = parseFields(written)?.["session_id"];
  return typeof session === "string" && session !== "" ? session : null;
}

/** A short request without tools for a few tokens: a title, a topic, a probe. */
export function isSideCall(request: {
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly maxTokens: number | null;
  readonly answers: number;
}): boolean {
  const { messages, tools, maxTokens, answers } = request;
  return messages.length <= 2 && answers === 0 && tools.length === 0 && maxTokens !== null && maxTokens <= FEW_TOKENS;
}

const FEW_TOKENS = 1024;
