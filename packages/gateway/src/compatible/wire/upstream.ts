/**
 * Asks a provider over plain HTTP and hands its answer on as it comes. Redirects are not followed: an address that the
 * operator did not write down gets neither words nor keys.
 */
import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type AnswerBounds, boundedBody, tooLong } from "./bounded-body.ts";
import { UpstreamError } from "./upstream-error.ts";

export interface UpstreamRequest {
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

/** All of an answer's body. */
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
  /^(?:x-palimpsest-.*|set-cookie2?|location|refresh|link|alt-svc|clear-site-data|service-worker-allowed|strict-transport-security|www-authenticate|report-to|reporting-endpoints|nel|sourcemap|access-control-.*|content-security-policy.*)$/;

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
export function forwardedHeaders(headers: Headers, key: "clients" | "operators"): OutgoingHttpHeaders {
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
