/** What is told of a request: in the answer's headers, in the metrics, and in the list of recent ones. */
import { pricesOf } from "palimpsest/internal/models";
import type { Sent } from "./asked-prompt.ts";
import type { Engaged, Exchange } from "./exchange.ts";
import type { RequestFacts, RequestUsage, UpstreamFacts } from "./recent-requests.ts";
import { cacheShare, compactedTokens, moneyOf, sawTooth, wholeTokens } from "./savings.ts";
import { fieldSpans } from "./wire/raw-json.ts";

export interface Compacted {
  readonly rung: string;
  readonly hidden: unknown;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

export interface Asked<M> extends Sent<M> {
  readonly added: number | null;
  readonly compaction: Compacted | null;
  /** Null: another vendor is asked. */
  readonly body: Buffer | null;
}

type Done = Pick<RequestFacts, "status" | "end"> & { readonly usage: RequestUsage | null };

export interface Outcome {
  readonly headers: Readonly<Record<string, string>>;
  /** Once, when it is over. */
  note(done: Done): void;
}

export function outcomeOf<M extends object>(
  exchange: Exchange<M>,
  { thread: { id, outcome } }: Pick<Engaged<M>, "thread">,
  asked: Asked<M>,
): Outcome {
  const { target, call } = exchange;
  const { counted, added, compaction } = asked;
  const view = asked.view.hidden || asked.view.erased ? "compacted" : "verbatim";
  const upstream = upstreamOf(exchange, asked);
  const saved = upstream === null ? 0 : savedTokens(exchange, upstream);
  const seq = counted?.version ?? null;
  const rung = compaction === null ? null : `${compaction.rung};${compaction.hidden ?? ""}`;
  return {
    headers: {
      "x-palimpsest-thread": id,
      "x-palimpsest-match": outcome,
      "x-palimpsest-view": view,
      ...(seq !== null && { "x-palimpsest-seq": String(seq) }),
      ...(upstream !== null && {
        "x-palimpsest-tokens": [upstream.whole, upstream.tokens, target.window, upstream.source].join(";"),
        "x-palimpsest-saved-tokens": String(saved),
        ...costHeader(exchange, saved),
      }),
      ...(added !== null && { "x-palimpsest-evidence": String(added) }),
      ...(rung !== null && { "x-palimpsest-compaction": rung }),
    },
    note(done) {
      const { tokensBefore, tokensAfter } = compaction ?? {};
      if (compaction !== null && tokensBefore !== undefined && tokensAfter !== undefined)
        call.meter.compaction({ rung: compaction.rung, tokensBefore, tokensAfter });
      const place = { match: outcome, thread: id, seq, view, upstream } as const;
      noteRequest(exchange, { ...place, compaction: rung, evidence: added, saved, ...done });
    },
  };
}

/** Nothing is known of what passes but that it did. */
export function notePassed<M extends object>(
  exchange: Exchange<M>,
  { status, view }: Pick<RequestFacts, "status" | "view">,
): void {
  noteRequest(exchange, {
    match: "passed",
    end: "passed",
    status,
    view,
    thread: null,
    seq: null,
    upstream: null,
    compaction: null,
    evidence: null,
    saved: 0,
    usage: null,
  });
}

type Noted = Done &
  Pick<RequestFacts, "match" | "thread" | "seq" | "view" | "upstream" | "compaction" | "evidence"> & {
    readonly saved: number;
  };

function noteRequest<M extends object>(exchange: Exchange<M>, { saved, ...noted }: Noted): void {
  const { call, deps, request, target, bytes, policy, startedAt, hash } = exchange;
  const { prices, currency } = pricesFor(exchange);
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

function pricesFor<M extends object>({ target: { entry, model } }: Exchange<M>) {
  const prices = pricesOf({ ...entry, model });
  return { prices, currency: prices === null ? null : ("USD" as const) };
}

/** Before the answer nobody knows what the cache held: it is the least that was saved. */
function costHeader<M extends object>(exchange: Exchange<M>, saved: number): Record<string, string> {
  const { prices } = pricesFor(exchange);
  const money = moneyOf(saved, null, prices);
  if (money === null) return {};
  return { "x-palimpsest-saved-cost": `${money.saved.toFixed(6)};USD` };
}

/** The count is that of the view; where all of it went out, or would have, the bytes say how much more that is. */
function upstreamOf<M extends object>(
  exchange: Exchange<M>,
  { counted, messages, as, body }: Asked<M>,
): UpstreamFacts | null {
  if (counted === null) return null;
  const { bytes, request } = exchange;
  const { tokens: count, source } = counted.count;
  const isView = as === "view" && messages === null;
  const sent = isView
    ? bytes.length
    : ((as === "view" ? body?.length : undefined) ?? viewBytes(exchange, counted.messages));
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
function viewBytes<M extends object>({ bytes, vendor, body, request }: Exchange<M>, messages: readonly M[]): number {
  const { start, end } = fieldSpans(bytes).get(vendor.field) ?? { start: 0, end: 0 };
  return bytes.length - (end - start) + Buffer.byteLength(JSON.stringify(vendor.write({ body, request, messages })));
}

/** `observe`: what would have been left out. */
function savedTokens<M extends object>({ policy, deps, request, target }: Exchange<M>, sent: UpstreamFacts): number {
  if (policy.mode === "on") return sent.whole - sent.tokens;
  const outside = Math.ceil((request.system.length + JSON.stringify(request.tools).length) / 4);
  return sent.whole - compactedTokens(sent.whole, sawTooth(deps.settings, target.window, outside));
}
