/** The Node server around a `fetch`: addresses, time limits, and an end that lets answers finish. */
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { Caller, KeyFacts } from "../access/admit.ts";
import type { After } from "../http/event-stream.ts";
import { problemResponse } from "../http/problem.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** How long a client may take; ours unless told. */
  readonly limits?: ClientLimits;
}

interface ClientLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  /** How often the server checks whether a request took too long. */
  readonly connectionsCheckingInterval: number;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** From here on a connection ends with its answer. */
  drain(): void;
  /** Takes nothing new, lets what is under way finish within this time, then ends it. */
  close(graceMs: number): Promise<void>;
}

type Fetch = Parameters<typeof getRequestListener>[0];

/** A client gets this long for its headers, a whole request, and to say something on a kept connection. */
export const LIMITS: ClientLimits = {
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  connectionsCheckingInterval: 5_000,
};

export async function listen(fetch: Fetch, { host, port, limits = LIMITS }: ListenOptions): Promise<Listening> {
  const answer = getRequestListener(fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => problemResponse({ status: 400, code: "bad-request", message: "this is no valid request" }),
  });
  let state: "open" | "draining" = "open";
  const server = createServer(limits, (incoming, outgoing) => {
    if (state === "draining") outgoing.shouldKeepAlive = false;
    // Of an answer whose headers were written before, the client may keep the connection.
    outgoing.once("close", () => {
      if (state === "draining") setImmediate(() => server.closeIdleConnections());
    });
    void answer(incoming, outgoing);
  });
  server.on("clientError", refuse);
  await started(server, { host, port });
  const { port: actual } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  const drain = (): void => {
    state = "draining";
  };
  return {
    url: `http://${name}:${actual}`,
    port: actual,
    drain,
    close(graceMs) {
      drain();
      return closed(server, graceMs);
    },
  };
}

function started(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = WHY[error.code ?? ""] ?? error.message;
      reject(new GatewayError("cannot-listen", `can't listen on ${host}, port ${port}: ${why}`, { cause: error }));
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there; choose another with --port",
  EACCES: "not permitted; choose a port above 1023 with --port",
  EADDRNOTAVAIL: "this machine has no such address; choose another with --host",
  ENOTFOUND: "there is no such host; choose another with --host",
};

/** What isn't HTTP at all gets a status line, as far as the other side still reads. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ""] ?? 400;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

async function closed(server: Server, graceMs: number): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), graceMs);
  await ended;
  clearTimeout(late);
}

export class GatewayError extends PalimpsestError<"keys-needed" | "cannot-listen"> {
  static override readonly kind = "GatewayError";
}

/*
 * Which requests are being answered, so that a server can wait for the last of them before it ends, and cut off those
 * whose key was revoked or has expired meanwhile.
 */

interface KeptOpen {
  /** What came with it; requests with the same are looked at once. */
  readonly credential: string;
  /** Whether it would still be let in. Throws if that can't be determined. */
  readonly holds: () => Promise<boolean>;
  readonly cut: () => void;
}

interface OpenRequest {
  /** Null: it needs none. */
  readonly caller: Pick<Caller, "key"> | null;
  readonly headers: Headers;
  /** The connection, where it is a server of ours. */
  readonly outgoing: { destroy(): unknown } | undefined;
  /** What the store says of the key that came with it. */
  readonly keysOf: (headers: Headers) => Promise<KeyFacts>;
}

export interface UnderWay {
  /** A request is under way until the function that comes back is called; the first time counts. */
  open(request: OpenRequest): () => void;
  count(): number;
  /** When none is under way any more, or the time is over. */
  ended(graceMs: number): Promise<void>;
}

export function underWay(after: After): UnderWay {
  const requests = new Set<symbol>();
  const waiting = new Set<() => void>();
  const watched = watchedKeys(after);
  return {
    open({ caller, ...rest }) {
      const request = Symbol("request");
      requests.add(request);
      const isWatched = caller !== null && caller.key !== null;
      const leave = isWatched ? watched(keptOpen(rest)) : () => {};
      return () => {
        leave();
        requests.delete(request);
        if (requests.size === 0) for (const resolve of waiting) resolve();
      };
    },
    count: () => requests.size,
    async ended(graceMs) {
      if (requests.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const late = setTimeout(resolve, graceMs);
      await promise;
      clearTimeout(late);
      waiting.delete(resolve);
    },
  };
}

function keptOpen({ headers, outgoing, keysOf }: Omit<OpenRequest, "caller">): KeptOpen {
  return {
    credential: ["authorization", "x-api-key", "cookie"].map((name) => headers.get(name) ?? "").join("\n"),
    async holds() {
      const { presented } = await keysOf(headers);
      return typeof presented === "object" && presented.state === "valid";
    },
    cut: () => void outgoing?.destroy(),
  };
}

/** So long a stream goes on at most after its key was revoked, on whichever gateway. */
export const KEY_CHECK_MS = 5000;

/** One look for each credential that has something under way, however many requests that are. */
function watchedKeys(after: After): (by: KeptOpen) => () => void {
  const credentials = new Map<string, { readonly open: Set<KeptOpen>; stop: () => void }>();
  return (by) => {
    const watched = credentials.get(by.credential) ?? { open: new Set<KeptOpen>(), stop: () => {} };
    if (watched.open.size === 0) {
      credentials.set(by.credential, watched);
      watched.stop = after(KEY_CHECK_MS, look);
    }
    watched.open.add(by);
    return () => {
      if (!watched.open.delete(by) || watched.open.size > 0) return;
      watched.stop();
      credentials.delete(by.credential);
    };

    async function look(): Promise<void> {
      // A store that doesn't answer revokes nothing.
      const holds = await by.holds().catch(() => true);
      if (watched.open.size === 0) return;
      if (!holds) for (const one of watched.open) one.cut();
      watched.stop = after(KEY_CHECK_MS, look);
    }
  };
}
