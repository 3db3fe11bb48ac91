/**
 * Asks a provider over plain HTTP and hands its answer on as it comes. Redirects are not followed: an address that the
 * operator did not write down gets neither words nor keys.
 */
import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { PalimpsestError } from "@palimpsest/core/errors";

export interface UpstreamRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
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

/** The provider could not be asked, or broke off. */
export class UpstreamError extends PalimpsestError<"unreachable"> {
  static override readonly kind = "UpstreamError";
}

const AGENTS = {
  "http:": { request: httpRequest, agent: new Agent({ keepAlive: true }) },
  "https:": { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true }) },
} as const;

export function askUpstream(asked: UpstreamRequest): Promise<UpstreamAnswer> {
  const { method, url, headers, body, signal } = asked;
  const { request, agent } = AGENTS[url.protocol as keyof typeof AGENTS];
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { "content-length": body.length };
    const outgoing = request(url, { method, headers: { ...headers, ...length }, agent, signal }, (incoming) => {
      resolve({ status: incoming.statusCode ?? 502, headers: answerHeaders(incoming), body: incoming });
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

const GIVEN_UP: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** What belongs to one connection, and what a browser would keep, ends here. */
const DROPPED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "set-cookie",
]);

function answerHeaders({ headers }: IncomingMessage): UpstreamAnswer["headers"] {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !DROPPED.has(name));
  return Object.fromEntries(kept) as UpstreamAnswer["headers"];
}

const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...DROPPED,
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
]);

/** A client's headers as a provider may see them; the key is the caller's to add. */
export function forwardedHeaders(headers: Headers): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  const named = new Set(
    (headers.get("connection") ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || named.has(name) || /^(?:x-palimpsest-|sec-|proxy-)/.test(name)) continue;
    kept[name] = value;
  }
  return kept;
}
