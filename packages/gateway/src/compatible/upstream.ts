/**
 * Asks a provider over plain HTTP and hands its answer on as it comes. Redirects are not followed: an address that the
 * operator did not write down gets neither words nor keys.
 */
import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { jsonOr } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { hideSecrets, readUsage, secretsOf, type Usage } from "palimpsest/internal/models";
import { ProblemError } from "../http/problem.ts";
import { fieldSpans, OPEN_BRACE, spliced, valueEnd, withoutFields } from "../http/read-json.ts";
import { countSpent, type Estimate, tokensIn } from "./outcome.ts";
import { type AnswerBounds, boundedBody, objectReader, tooLong, UpstreamError } from "./passage.ts";
import type { ProviderTarget } from "./policy.ts";
import type { CompatibleCall } from "./serve.ts";
import type { Vendor } from "./vendor.ts";

interface UpstreamRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
  readonly bounds: AnswerBounds;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export function formOf({ headers }: Pick<UpstreamAnswer, "headers">): "stream" | "whole" {
  return /text\/event-stream/i.test(String(headers["content-type"] ?? "")) ? "stream" : "whole";
}

export async function bytesOf(body: UpstreamAnswer["body"]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

const AGENTS = {
  "http:": { request: httpRequest, agent: new Agent({ keepAlive: true }) },
  "https:": { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true }) },
} as const;

export function askUpstream(asked: UpstreamRequest): Promise<UpstreamAnswer> {
  const { method, url, headers, body, signal, bounds } = asked;
  const { request, agent } = AGENTS[url.protocol as keyof typeof AGENTS];
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { "content-length": body.length };
    const outgoing = request(url, { method, headers: { ...headers, ...length }, agent, signal }, (incoming) => {
      const status = incoming.statusCode ?? 502;
      const refuse = (error: UpstreamError): void => {
        incoming.destroy();
        reject(error);
      };
      if (status >= 300 && status < 400 && status !== 304) return refuse(redirected(url, incoming));
      const length = method === "HEAD" ? 0 : Number(incoming.headers["content-length"] ?? 0);
      if (length > bounds.bytes) return refuse(tooLong(bounds.bytes));
      const given = answerHeaders(incoming);
      const stop = (error: Error): void => void incoming.destroy(error);
      const pieces = boundedBody(incoming, { ...bounds, form: formOf({ headers: given }), stop });
      resolve({ status, headers: given, body: pieces });
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (signal.aborted) return reject(error);
      const why = error.code ?? error.message;
      // A connection from before, which the provider had given up meanwhile. Each is tried once: a broken one isn't kept.
      if (outgoing.reusedSocket && GIVEN_UP.has(why)) return resolve(askUpstream(asked));
      reject(new UpstreamError("unreachable", `the model's provider can't be reached (${why})`, { cause: error }));
    });
    outgoing.end(body ?? undefined);
  });
}

function redirected({ origin, pathname }: URL, { statusCode, headers: { location } }: IncomingMessage): UpstreamError {
  const from = `${origin}${pathname}`;
  const to = location === undefined ? null : URL.parse(location, from);
  const address = to === null ? "no address" : `${to.origin}${to.pathname}`;
  const message = `${from} redirects (${statusCode}) to ${address}, which is not followed: if it is right, set base_url to it`;
  return new UpstreamError("redirected", REDIRECTED, { message });
}

const REDIRECTED = "the model's provider sends requests to another address, which is not followed";

const GIVEN_UP: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** What belongs to one connection ends here. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
] as const;

/** What a browser would do or keep for our address, which is not the provider's; and what only we say. */
const NOT_ANSWERED =
  /^(?:x-palimpsest-.*|set-cookie2?|location|refresh|link|alt-svc|clear-site-data|service-worker-allowed|strict-transport-security|www-authenticate|report-to|reporting-endpoints|nel|sourcemap|access-control-.*|content-security-policy.*|x-frame-options)$/;

function answerHeaders({ headers }: IncomingMessage): UpstreamAnswer["headers"] {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !HOP_BY_HOP.includes(name as never) && !NOT_ANSWERED.test(name),
  );
  const type = headers["content-type"];
  if (type !== undefined && SHOWN_AS_PAGE.test(type)) kept.push(["content-type", "text/plain; charset=utf-8"]);
  return Object.fromEntries(kept) as UpstreamAnswer["headers"];
}

/** What a browser would run or draw as a page of ours. */
const SHOWN_AS_PAGE = /html|xml|javascript|ecmascript|multipart\/|pdf/i;

const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  "set-cookie",
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "authorization",
  "x-api-key",
  "x-provider-key",
  "cookie",
  "origin",
  "referer",
  "forwarded",
  "x-real-ip",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);

const NOT_FORWARDED_FAMILY = /^(?:x-palimpsest-|sec-|proxy-|x-forwarded-)/;

/** Which account of a key's owner pays: only the owner says. */
const PAYING: ReadonlySet<string> = new Set(["openai-organization", "openai-project"]);

/** A client's headers as a provider may see them; the key, whose it is said here, is the caller's to add. */
function forwardedHeaders(headers: Headers, key: "clients" | "operators"): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  const named = new Set(
    (headers.get("connection") ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || NOT_FORWARDED_FAMILY.test(name) || named.has(name)) continue;
    if (key === "operators" && PAYING.has(name)) continue;
    kept[name] = value;
  }
  return kept;
}

/* Passing a request through: nothing is kept, only the token usage is read. */

export interface RelayOptions {
  /** Headers of ours that say what became of the request. */
  readonly ours: Readonly<Record<string, string>>;
  /** What counts where the provider reports no tokens: a text asked of this length and its answer's, or so many tokens. Null: nothing. */
  readonly unreported: { readonly textBytes: number } | { readonly tokens: number } | null;
}

export async function relay(call: CompatibleCall, answer: UpstreamAnswer, options: RelayOptions): Promise<void> {
  const { client } = call;
  const { ours, unreported } = options;
  client.head(answer.status, { ...answer.headers, ...call.own, ...ours });
  const reader = usageReader(answer);
  let how: "ended" | "broken" = "broken";
  try {
    for await (const bytes of answer.body) {
      if (client.left.aborted) return;
      reader.read(bytes);
      await client.write(bytes);
    }
    how = "ended";
    client.end();
  } catch (error) {
    if (error instanceof UpstreamError) call.failed(error);
    client.breakOff();
  } finally {
    if (answer.status < 400) countRelayed(call, reader, { how, unreported });
  }
}

function countRelayed(
  { meter }: CompatibleCall,
  reader: UsageReader,
  { how, unreported }: Pick<RelayOptions, "unreported"> & { readonly how: "ended" | "broken" },
): void {
  const usage = reader.usage();
  const isKnown = unreported === null || (usage !== null && how === "ended");
  countSpent(meter, usage, isKnown ? null : estimateOf(unreported, reader));
}

function estimateOf(unreported: NonNullable<RelayOptions["unreported"]>, reader: UsageReader): Estimate {
  if ("tokens" in unreported) return { input: unreported.tokens, output: 0 };
  const { events, bytes } = reader.said();
  return { input: tokensIn(unreported.textBytes), output: events + tokensIn(bytes) };
}

interface AskedBody {
  readonly body: Buffer | null;
  /** Another content type than the request's; null: that one. */
  readonly type?: string | null;
  readonly signal: AbortSignal;
}

/** Asks the provider of the target, with its key and without ours. */
export async function askTarget(
  call: CompatibleCall,
  {
    vendor,
    target,
    path,
  }: { readonly vendor: Pick<Vendor<never>, "key">; readonly target: ProviderTarget; readonly path: string },
  { body, type = null, signal }: AskedBody,
): Promise<UpstreamAnswer> {
  const url = URL.parse(`${target.base}${path}${call.search}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ProblemError(500, "bad-address", `the model ${target.entry.name} has a base_url that is no URL`);
  const whose = target.key !== null && target.key === call.providerKey ? "clients" : "operators";
  const headers: OutgoingHttpHeaders = { ...forwardedHeaders(call.headers, whose), "accept-encoding": "identity" };
  if (type !== null) headers["content-type"] = type;
  if (target.key !== null) Object.assign(headers, vendor.key(target.key));
  else if (target.entry.provider !== "openai-compatible") throw keyMissing(target);
  const asked = { method: call.method, url, headers, body, signal, bounds: call.bounds };
  const answer = await provenBy(call, askUpstream(asked));
  if (whose === "clients" || answer.status < 400) return answer;
  return hiding(answer, secretsOf({ api_key: target.key ?? undefined, base_url: target.entry.base_url }));
}

/** Providers repeat keys in what they say of them. */
function hiding({ status, headers, body }: UpstreamAnswer, secrets: readonly string[]): UpstreamAnswer {
  const { "content-length": _, ...others } = headers;
  const hidden = async function* () {
    yield Buffer.from(String(hideSecrets((await bytesOf(body)).toString("latin1"), secrets)), "latin1");
  };
  return { status, headers: others, body: hidden() };
}

/** A provider that answers has accepted the key that it was asked with. Some answer a GET without any key, so a GET proves nothing. */
export async function provenBy(call: CompatibleCall, asked: Promise<UpstreamAnswer>): Promise<UpstreamAnswer> {
  const answer = await asked;
  if (call.method === "POST" && answer.status >= 200 && answer.status < 300) call.accepted();
  return answer;
}

export function keyMissing({ entry: { name } }: Pick<ProviderTarget, "entry">): ProblemError {
  const remedy = "its operator can set one, or send one as X-Provider-Key";
  return new ProblemError(401, "no-key", `the model ${name} has no key here: ${remedy}`);
}

/** The body with the provider's name of the model, and with other messages and tools where they are given. */
export function requestBytes(
  bytes: Buffer,
  changes: {
    readonly model: string;
    readonly target: ProviderTarget;
    readonly field: string;
    readonly messages?: unknown;
    readonly tools?: readonly unknown[];
    readonly without?: readonly string[];
  },
): Buffer {
  const { model, target, field, messages, tools, without = [] } = changes;
  const kept = withoutFields(bytes, without);
  if (model === target.model && messages === undefined && tools === undefined) return kept;
  const spans = fieldSpans(kept);
  const named = spans.get("model")!;
  // `input` and `tools` may be absent: a client that names a conversation may add nothing to it.
  const replaced = (name: string, value: unknown) => {
    const text = JSON.stringify(value);
    const written = spans.get(name);
    if (value === undefined) return [];
    return written === undefined
      ? [{ start: named.end, end: named.end, text: `,${JSON.stringify(name)}:${text}` }]
      : [{ ...written, text }];
  };
  return spliced(kept, [
    ...(model === target.model ? [] : [{ ...named, text: JSON.stringify(target.model) }]),
    ...replaced(field, messages),
    ...replaced("tools", tools),
  ]);
}

/* Reads the token usage of an answer while it streams, in any protocol. */

interface UsageReader {
  read(bytes: Uint8Array): void;
  /** Null: nothing was reported. */
  usage(): Usage | null;
  /** About as many as the tokens that were said: events of a stream, else bytes. */
  said(): { readonly events: number; readonly bytes: number };
}

function usageReader(answer: Pick<UpstreamAnswer, "headers">): UsageReader {
  if (formOf(answer) === "stream") return ofStream();
  return /json/i.test(String(answer.headers["content-type"] ?? "")) ? ofWhole() : NOTHING;
}

function ofStream(): UsageReader {
  let reported: Record<string, unknown> = {};
  let events = 0;
  const read = objectReader((fields) => {
    events += 1;
    // The parts of a report may come one after the other.
    for (const place of [fields, fields["message"], fields["response"]])
      if (isRecord(place) && isRecord(place["usage"])) reported = { ...reported, ...place["usage"] };
  });
  return { read, usage: () => readUsage(reported), said: () => ({ events, bytes: 0 }) };
}

function ofWhole(): UsageReader {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    read(piece) {
      pieces.push(piece);
      bytes += piece.length;
    },
    usage: () => usageIn(Buffer.concat(pieces)),
    said: () => ({ events: 0, bytes }),
  };
}

const NOTHING: UsageReader = { read() {}, usage: () => null, said: () => ({ events: 0, bytes: 0 }) };

const FIELD = Buffer.from('"usage"');
/** Other fields of this name may stand in what was said as JSON. */
const MOST_PLACES = 16;

/** Found without parsing the rest, which may be long: in text these bytes can't stand, since its quotes are escaped. */
function usageIn(bytes: Buffer): Usage | null {
  let at = bytes.lastIndexOf(FIELD);
  for (let place = 0; at !== -1 && place < MOST_PLACES; place += 1) {
    const start = bytes.indexOf(OPEN_BRACE, at);
    const usage = start === -1 ? null : readUsage(jsonOr(bytes.toString("utf8", start, valueEnd(bytes, start)), null));
    if (usage !== null) return usage;
    at = at === 0 ? -1 : bytes.lastIndexOf(FIELD, at - 1);
  }
  return null;
}

/* The same limits for providers that are called through the AI SDK. */

export function fetchWithin(bounds: AnswerBounds): typeof globalThis.fetch {
  return async (input, init) => {
    const ending = new AbortController();
    const signal = init?.signal == null ? ending.signal : AbortSignal.any([init.signal, ending.signal]);
    const response = await fetch(input, { ...init, signal });
    const { status, statusText, headers, body } = response;
    if (body === null) return response;
    const stop = (error: unknown): void => ending.abort(error);
    if (Number(headers.get("content-length") ?? 0) > bounds.bytes) {
      stop(tooLong(bounds.bytes));
      throw tooLong(bounds.bytes);
    }
    const form = formOf({ headers: { "content-type": headers.get("content-type") ?? "" } });
    const pieces = boundedBody(body, { ...bounds, form, stop });
    return new Response(ReadableStream.from(pieces), { status, statusText, headers });
  };
}
