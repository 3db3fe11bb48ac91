/** What is told of a request: in the answer's headers, in the metrics, and in the list of recent ones. */

import { limitsOf } from "@palimpsest/core/internal/compaction";
import { answerReserve } from "@palimpsest/core/internal/tokens";
import type { ConfigFile } from "palimpsest/home";
import { summarizationForThreads } from "palimpsest/internal/config";
import { addUsage, costOf, NO_USAGE, pricesOf, savingOf, type Usage } from "palimpsest/internal/models";
import type { TokenPrices } from "palimpsest/models";
import { fieldSpans } from "../http/read-json.ts";
import type { RequestMeter } from "../metrics/metrics.ts";
import type { CompatibleRequestFacts } from "../resources/requests.ts";
import type { SentPrompt } from "./prompt.ts";
import type { ClaimedRequest, ParsedRequest } from "./request.ts";

export interface ReportedCompaction {
  readonly rung: string;
  readonly hidden: unknown;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  readonly shortened?: CompatibleRequestFacts["shortened"];
}

export interface OutcomeInput<M> extends SentPrompt<M> {
  readonly added: number | null;
  readonly compaction: ReportedCompaction | null;
  /** Null: another vendor is asked. */
  readonly body: Buffer | null;
}

export function compactedIn<M>({ counted }: SentPrompt<M>): ReportedCompaction | null {
  return counted?.outcome?.kind === "compacted" ? counted.outcome : null;
}

type FinishedRequest = Pick<CompatibleRequestFacts, "status" | "end"> & { readonly usage: Usage | null };

export interface RequestOutcome {
  readonly headers: Readonly<Record<string, string>>;
  /** Once, when it is over. */
  note(done: FinishedRequest): void;
}

/** Which thread it is, and why a fork. */
export function placeHeaders<M extends object>({
  claimed: { id, outcome, fork },
}: Pick<ClaimedRequest<M>, "claimed">): Readonly<Record<string, string>> {
  const place = { "x-palimpsest-thread": id, "x-palimpsest-match": outcome };
  return fork === null ? place : { ...place, "x-palimpsest-fork": fork };
}

export function outcomeOf<M extends object>(
  parsed: ParsedRequest<M>,
  turn: Pick<ClaimedRequest<M>, "claimed">,
  asked: OutcomeInput<M>,
): RequestOutcome {
  const { target, call } = parsed;
  const { id, outcome, fork } = turn.claimed;
  const { counted, added, compaction } = asked;
  const view = asked.view.hidden || asked.view.erased ? "compacted" : "verbatim";
  const upstream = upstreamOf(parsed, asked);
  const saved = upstream === null ? 0 : savedTokens(parsed, upstream);
  const seq = counted?.version ?? null;
  const rung = compaction === null ? null : `${compaction.rung};${compaction.hidden ?? ""}`;
  const shortened = compaction?.shortened ?? null;
  return {
    headers: {
      ...placeHeaders(turn),
      "x-palimpsest-view": view,
      ...(seq !== null && { "x-palimpsest-seq": String(seq) }),
      ...(upstream !== null && {
        "x-palimpsest-tokens": [upstream.whole, upstream.tokens, target.window, upstream.source].join(";"),
        "x-palimpsest-saved-tokens": String(saved),
        ...costHeader(parsed, saved),
      }),
      ...(added !== null && { "x-palimpsest-evidence": String(added) }),
      ...(rung !== null && { "x-palimpsest-compaction": rung }),
      ...(shortened !== null && {
        "x-palimpsest-shortened": [shortened.tokens, shortened.first, shortened.last].join(";"),
      }),
      ...parsed.ownTools?.headers,
    },
    note(done) {
      const { tokensBefore, tokensAfter } = compaction ?? {};
      if (compaction !== null && tokensBefore !== undefined && tokensAfter !== undefined)
        call.meter.compaction({ rung: compaction.rung, tokensBefore, tokensAfter });
      const place = { match: outcome, fork, thread: id, seq, view, upstream } as const;
      noteRequest(parsed, { ...place, compaction: rung, shortened, evidence: added, saved, ...done });
    },
  };
}

/** For a request that was passed on without a thread. */
export function notePassed<M extends object>(
  parsed: ParsedRequest<M>,
  { status, view }: Pick<CompatibleRequestFacts, "status" | "view">,
): void {
  noteRequest(parsed, {
    match: "passed",
    fork: null,
    end: "passed",
    status,
    view,
    thread: null,
    seq: null,
    upstream: null,
    compaction: null,
    shortened: null,
    evidence: null,
    saved: 0,
    usage: null,
  });
}

type Noted = FinishedRequest &
  Pick<
    CompatibleRequestFacts,
    "match" | "fork" | "thread" | "seq" | "view" | "upstream" | "compaction" | "shortened" | "evidence"
  > & {
    readonly saved: number;
  };

function noteRequest<M extends object>(parsed: ParsedRequest<M>, { saved, ...noted }: Noted): void {
  const { call, deps, request, target, bytes, policy, startedAt, hash } = parsed;
  const { prices, currency } = pricesFor(parsed);
  const money = moneyOf(saved, noted.usage, prices);
  const { mode } = policy;
  if (noted.match !== "passed") call.meter.saving({ mode, tokens: saved, cost: money?.saved ?? null });
  deps.requests.add(call.caller.userId, {
    id: call.own["x-request-id"] ?? call.threads.ids(),
    at: startedAt.toISOString(),
    ms: Math.max(0, call.threads.clock().getTime() - startedAt.getTime()),
    path: `/v1${call.path}`,
    model: request.model,
    upstreamModel: target.model,
    provider: target.entry.provider,
    stream: request.stream,
    mode,
    client: { messages: request.leading.length + request.messages.length, bytes: bytes.length, hash },
    ...noted,
    cacheShare: cacheShare(noted.usage),
    cost: money?.spent ?? null,
    saved: { tokens: saved, cost: money?.saved ?? null },
    currency,
  });
}

function pricesFor<M extends object>({ target: { entry, model } }: ParsedRequest<M>) {
  const prices = pricesOf({ ...entry, model });
  return { prices, currency: prices === null ? null : ("USD" as const) };
}

/** Before the answer the cache hits are unknown, so this is a lower bound. */
function costHeader<M extends object>(parsed: ParsedRequest<M>, saved: number): Record<string, string> {
  const { prices } = pricesFor(parsed);
  const money = moneyOf(saved, null, prices);
  if (money === null) return {};
  return { "x-palimpsest-saved-cost": `${money.saved.toFixed(6)};USD` };
}

/** The count is that of the view; where all of it went out, or would have, the bytes say how much more that is. */
function upstreamOf<M extends object>(
  parsed: ParsedRequest<M>,
  { counted, messages, as, body }: OutcomeInput<M>,
): UpstreamFacts | null {
  if (counted === null) return null;
  const { bytes, request } = parsed;
  const { tokens: count, source } = counted.count;
  const isView = as === "view" && messages === null;
  const sent = isView
    ? bytes.length
    : ((as === "view" ? body?.length : undefined) ?? viewBytes(parsed, counted.messages));
  const whole = isView ? count : wholeTokens(count, { whole: bytes.length, sent });
  return {
    messages: messages?.length ?? request.messages.length,
    bytes: body?.length ?? null,
    tokens: as === "view" ? count : whole,
    source,
    whole,
  };
}

/** The request as it would be with these messages. */
function viewBytes<M extends object>(
  { bytes, vendor, body, request }: ParsedRequest<M>,
  messages: readonly M[],
): number {
  const { start, end } = fieldSpans(bytes).get(vendor.field) ?? { start: 0, end: 0 };
  return bytes.length - (end - start) + Buffer.byteLength(JSON.stringify(vendor.write({ body, request, messages })));
}

/** `observe`: what would have been left out. */
function savedTokens<M extends object>(
  { policy, deps, request, target }: ParsedRequest<M>,
  sent: UpstreamFacts,
): number {
  if (policy.mode === "on") return sent.whole - sent.tokens;
  const outside = Math.ceil((request.system.length + JSON.stringify(request.tools).length) / 4);
  return sent.whole - compactedTokens(sent.whole, sawTooth(deps.settings, target.window, outside));
}

/* Tokens of the whole request, tokens sent, tokens and money saved. Pure. */

/** From the count of what was sent: nothing but the bytes of the rest is known. */
export function wholeTokens(count: number, bytes: { readonly whole: number; readonly sent: number }): number {
  return Math.max(count, Math.round((count * bytes.whole) / Math.max(1, bytes.sent)));
}

interface SawTooth {
  readonly trigger: number;
  readonly lowWater: number;
}

/** How large prompts get under the configuration, and what a compaction brings them down to. */
function sawTooth({ summarization }: ConfigFile, window: number, outside: number): SawTooth {
  const { policy } = summarizationForThreads(summarization);
  return limitsOf(policy, { size: window, reserve: answerReserve(window, null) }, Math.min(outside, window));
}

/** What would be sent of so many tokens: prompts grow to the trigger, are brought down to the low-water mark, and grow again. */
export function compactedTokens(whole: number, { trigger, lowWater }: SawTooth): number {
  if (whole < trigger) return whole;
  return lowWater + ((whole - trigger) % Math.max(1, trigger - lowWater));
}

interface Money {
  readonly spent: number | null;
  readonly saved: number;
}

/** Null if the prices are unknown. Without a report the tokens that were left out count as if the cache had held them. */
export function moneyOf(saved: number, usage: Usage | null, prices: TokenPrices | null): Money | null {
  if (prices === null) return null;
  const cached = { input: 0, output: 0, cacheRead: 1, cacheWrite: 0 };
  return {
    spent: usage === null ? null : costOf(usage, prices).spent,
    saved: savingOf(saved, usage ?? cached, prices),
  };
}

/** Of the prompt; null where nothing was reported. */
export function cacheShare(usage: Pick<Usage, "input" | "cacheRead"> | null): number | null {
  return usage === null || usage.input === 0 ? null : usage.cacheRead / usage.input;
}

/* Tokens charged to the key: as the provider reports them, or estimated by length. */

/** Tokens by length. */
export interface Estimate {
  readonly input: number;
  readonly output: number;
}

/** `estimate`: of an answer that broke off, or reported nothing; null: what is reported is all. */
export function countSpent(
  meter: Pick<RequestMeter, "tokens" | "estimated">,
  reported: Usage | null,
  estimate: Estimate | null,
): void {
  if (reported !== null) meter.tokens(reported);
  if (estimate === null) return;
  const known = reported === null ? 0 : reported.input + reported.output;
  meter.estimated(Math.max(0, estimate.input + estimate.output - known));
}

/** Of all rounds of an answer; null if none was reported. */
export function totalOf(rounds: readonly (Usage | null)[]): Usage | null {
  return rounds.every((one) => one === null) ? null : rounds.reduce(addUsage, NO_USAGE);
}

const BYTES_PER_TOKEN = 4;

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * The last requests to the compatible endpoints, of each user: counts and hashes, never words. In the memory of this
 * process and bounded, since the log has what matters for good: what was said, and what each answer took.
 */

type UpstreamFacts = NonNullable<CompatibleRequestFacts["upstream"]>;

interface RequestFilter {
  readonly thread?: string | undefined;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface RecentRequests {
  add(userId: string, facts: CompatibleRequestFacts): void;
  /** Newest first. */
  list(
    userId: string,
    filter: RequestFilter,
  ): { readonly requests: readonly CompatibleRequestFacts[]; readonly next: string | null };
  get(userId: string, id: string): CompatibleRequestFacts | null;
  forget(userId: string): void;
}

/** Of one user, and of all. */
const MOST_OF_USER = 500;
const MOST = 10_000;

interface KeptFacts {
  readonly number: number;
  readonly facts: CompatibleRequestFacts;
}

export function recentRequests(
  most: { readonly ofUser: number; readonly ofAll: number } = { ofUser: MOST_OF_USER, ofAll: MOST },
): RecentRequests {
  /** Ordered by the last request, oldest first. */
  const users = new Map<string, KeptFacts[]>();
  let number = 0;
  let size = 0;
  const of = (userId: string): readonly KeptFacts[] => users.get(userId) ?? [];
  const forget = (userId: string): void => {
    size -= of(userId).length;
    users.delete(userId);
  };
  return {
    add(userId, facts) {
      number += 1;
      const kept = users.get(userId) ?? [];
      users.delete(userId);
      users.set(userId, kept);
      kept.push({ number, facts });
      size += 1;
      if (kept.length > most.ofUser) {
        kept.shift();
        size -= 1;
      }
      while (size > most.ofAll && users.size > 1) forget(users.keys().next().value!);
    },
    list(userId, { thread, limit, after }) {
      const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
      const fitting = of(userId).filter(
        (one) => one.number < before && (thread === undefined || one.facts.thread === thread),
      );
      const page = fitting.slice(-limit).toReversed();
      const next = fitting.length > page.length ? String(page.at(-1)!.number) : null;
      return { requests: page.map(({ facts }) => facts), next };
    },
    get: (userId, id) => of(userId).findLast(({ facts }) => facts.id === id)?.facts ?? null,
    forget,
  };
}
