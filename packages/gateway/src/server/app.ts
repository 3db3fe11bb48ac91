/**
 * The way of every request: an id, the door (`access/admit.ts`), what it brought (`http/input.ts`), the route's work, the
 * answer, one line in the log. Routes know nothing of HTTP beyond their entry in the table.
 */
import { isIP } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { Home } from "palimpsest/internal/home";
import { type Access, admit, type Caller, isLoopback, type KeyFacts, type RequestFacts } from "../access/admit.ts";
import type { Limits, Taken } from "../access/limits.ts";
import { readInput } from "../http/input.ts";
import { ProblemError, problemOf, problemResponse } from "../http/problem.ts";
import { type Call, pathNames, type Route, Stream } from "../http/route.ts";
import { type Log, loggedPath } from "./log.ts";

export interface AppDeps {
  readonly routes: readonly Route[];
  readonly home: Home;
  readonly keysOf: (headers: Headers) => Promise<KeyFacts>;
  readonly limits: Limits;
  readonly bodyBytes: number;
  readonly log: Log;
  readonly clock: () => Date;
  readonly ids: () => string;
}

type App = Hono<{ Bindings: Partial<HttpBindings> }>;
type Ctx = Context<{ Bindings: Partial<HttpBindings> }>;

export function createApp(deps: AppDeps): App {
  const app: App = new Hono();
  for (const route of deps.routes)
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), (c) => {
      const params = Object.fromEntries(pathNames(route.path).map((name) => [name, c.req.param(name) ?? ""]));
      return answered(c, deps, route.access, (caller) => limited(route, caller, () => work(route, params, c, caller)));
    });
  app.notFound((c) =>
    answered(c, deps, "user", async () => {
      throw new ProblemError(404, "no-route", "there is nothing here: /openapi.json lists what there is");
    }),
  );
  return app;

  async function limited(route: Route, caller: Caller | null, answer: () => Promise<unknown>): Promise<Response> {
    const release = caller === null ? () => {} : taken(deps.limits.take(caller.key ?? "local"));
    try {
      return responseOf(route, await answer(), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async function work(route: Route, params: Call<never, never>["params"], c: Ctx, caller: Caller | null) {
    const input = await readInput(route, c.req.raw, deps);
    const home = caller === null ? deps.home : deps.home.forUser(caller.user);
    const call = { params, ...input, caller, home, signal: c.req.raw.signal };
    return route.handle(call as Call<never, never>);
  }
}

async function answered(
  c: Ctx,
  { keysOf, log, clock, ids }: AppDeps,
  access: Access,
  work: (caller: Caller | null) => Promise<Response>,
): Promise<Response> {
  const started = clock();
  const request = ids();
  const { raw } = c.req;
  let caller: Caller | null = null;
  let failure: { readonly code: string; readonly error?: string } | null = null;
  let response: Response;
  try {
    const verdict = admit(factsOf(c, access), await keysFor(access, () => keysOf(raw.headers)));
    if (verdict.kind === "refused") throw new ProblemError(verdict.status, verdict.code, verdict.message);
    caller = verdict.caller;
    response = await work(caller);
  } catch (error) {
    const problem = problemOf(error);
    const { status, code } = problem;
    failure = { code, ...(status >= 500 && { error: error instanceof Error ? `${error.stack}` : String(error) }) };
    response = problemResponse(problem);
    if (status === 401) response.headers.set("www-authenticate", "Bearer");
  }
  for (const [name, value] of Object.entries(SAFE)) response.headers.set(name, value);
  response.headers.set("x-request-id", request);
  const { status } = response;
  log({
    time: started.toISOString(),
    level: status >= 500 ? "error" : "info",
    request,
    method: raw.method,
    path: loggedPath(raw.url),
    status,
    ms: clock().getTime() - started.getTime(),
    user: caller?.user ?? null,
    key: caller?.key ?? null,
    ...failure,
  });
  return response;
}

/** What is open to anybody says how the server is also while the store doesn't answer. */
async function keysFor(access: Access, find: () => Promise<KeyFacts>): Promise<KeyFacts> {
  if (access === "user" || access === "admin") return find();
  return find().catch(() => ({ exist: true, presented: "none" }));
}

/** What an answer may do in a browser: nothing. */
const SAFE = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

function factsOf(c: Ctx, access: Access): RequestFacts {
  const { headers, method } = c.req.raw;
  // Without a server of ours nobody knows what the connection is.
  const address = c.env.incoming?.socket.localAddress;
  return {
    method,
    connection: address !== undefined && isOwnMachine(address) ? "loopback" : "other",
    host: headers.get("host"),
    origin: headers.get("origin"),
    fetchSite: headers.get("sec-fetch-site"),
    fetchMode: headers.get("sec-fetch-mode"),
    contentType: headers.get("content-type"),
    marked: [...headers.keys()].some((name) => name.startsWith("x-palimpsest-")),
    namedUser: asUtf8(headers.get("x-palimpsest-user")),
    access,
  };
}

/** A header arrives as bytes; a user's name may be any text. What is no text names nobody, which is refused. */
function asUtf8(header: string | null): string | null {
  if (header === null) return null;
  const text = Buffer.from(header, "latin1").toString("utf8");
  return text.includes("\u{FFFD}") ? "" : text;
}

function isOwnMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/, "");
  return isIP(plain) !== 0 && isLoopback(plain);
}

function taken(result: Taken): () => void {
  if (result.kind === "taken") return result.release;
  const seconds = result.retryAfterSeconds;
  const what = result.by === "requests" ? "this key has made its requests of this minute" : TOO_MANY;
  throw new ProblemError(429, "limited", `${what}: try again in ${seconds} s`, {
    headers: { "retry-after": String(seconds) },
  });
}

const TOO_MANY = "so many requests of this key are running already";

/** A stream holds its place until its last piece, or until nobody reads it any more. */
function responseOf(route: Route, answer: unknown, release: () => void): Response {
  const status = route.status ?? 200;
  if (!(answer instanceof Stream)) {
    release();
    return Response.json(answer, { status });
  }
  return new Response(ReadableStream.from(encoded(answer.pieces, release)), {
    status,
    headers: { "content-type": answer.type },
  });
}

/** In pieces of some size: a message a write would cost more than the message. */
async function* encoded(pieces: AsyncIterable<string>, release: () => void): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let waiting = "";
  try {
    for await (const piece of pieces) {
      waiting += piece;
      if (waiting.length < PIECE) continue;
      yield encoder.encode(waiting);
      waiting = "";
    }
    if (waiting !== "") yield encoder.encode(waiting);
  } finally {
    release();
  }
}

const PIECE = 16_384;
