/**
 * The way of every request: an id, the door (`access/admit.ts`), what it brought (`http/input.ts`), the route's work, the
 * answer, one line in the log. Routes know nothing of HTTP beyond their entry in the table.
 */
import type { ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { Home } from "palimpsest/internal/home";
import type { ThreadDeps } from "palimpsest/threads";
import { type Access, admit, type Caller, isLoopback, type KeyFacts, type RequestFacts } from "../access/admit.ts";
import type { LimitKind, Limits, Taken } from "../access/limits.ts";
import { providerKeyOf } from "../access/provider-key.ts";
import type { After } from "../http/event-stream.ts";
import { readBytes, readInput } from "../http/input.ts";
import { type Problem, ProblemError, problemOf, problemResponse } from "../http/problem.ts";
import { type Call, pathNames, type Route } from "../http/route.ts";
import type { Meter, Metrics } from "../metrics/metrics.ts";
import { type Log, loggedPath } from "./log.ts";
import { measuredStore } from "./measured-store.ts";
import type { PageFiles } from "./page-files.ts";
import { released, responseOf } from "./response.ts";

export interface AppDeps {
  readonly routes: readonly Route[];
  readonly home: Home;
  readonly keysOf: (headers: Headers) => Promise<KeyFacts>;
  readonly providerKeyOf: (headers: Headers) => string | null;
  /** Beside `X-Palimpsest-User`. */
  readonly userHeader: string | null;
  readonly metrics: Metrics;
  readonly compatible: Compatible;
  /** The Model Context Protocol, for the user that a home is of. */
  readonly mcp: (request: Request, home: Home) => Promise<Response>;
  readonly page: PageFiles;
  readonly limits: Limits;
  readonly bodyBytes: number;
  readonly log: Log;
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly after: After;
}

/** A request to an endpoint that speaks a vendor's protocol. */
export interface CompatibleRequest {
  readonly method: string;
  /** Below `/v1`. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
  readonly headers: Headers;
  body(): Promise<Buffer>;
  readonly caller: Caller;
  /** Of the caller's user. */
  readonly threads: ThreadDeps;
  readonly home: Home;
  readonly providerKey: string | null;
  readonly meter: Meter;
  /** Headers of ours that every answer has. */
  readonly own: Readonly<Record<string, string>>;
  /** For the log: what failed where the answer is written already, or in the vendor's words. */
  readonly failed: (error: unknown) => void;
}

/** The endpoints that speak the vendors' protocols: they write their answers themselves. */
export interface Compatible {
  /** `outgoing`: the connection, where it is a server of ours. */
  serve(request: CompatibleRequest, outgoing: ServerResponse | undefined): Promise<Response>;
  /** A refusal as the vendor of that path words it. */
  refuse(path: string, headers: Headers, problem: Problem): Response;
}

type App = Hono<{ Bindings: Partial<HttpBindings> }>;
type Ctx = Context<{ Bindings: Partial<HttpBindings> }>;

/** A request that was let in, and the function that says that it is no longer under way; the first time counts. */
interface Entry {
  readonly c: Ctx;
  readonly caller: Caller | null;
  readonly requestId: string;
  readonly release: () => void;
  readonly failed: CompatibleRequest["failed"];
}

export function createApp(deps: AppDeps): App {
  const app: App = new Hono();
  for (const route of deps.routes) app.on(route.method, patternOf(route.path), entering(route, routed(route)));
  app.all("/v1/*", entering(COMPATIBLE, compatible));
  app.all("/mcp", entering(MCP, mcp));
  for (const path of deps.page.paths)
    app.get(path, (c) =>
      answered(c, deps, { access: "page", path: "(page)" }, async () => deps.page.answer(c.req.raw)),
    );
  app.notFound((c) =>
    answered(c, deps, NOWHERE, async () => {
      throw new ProblemError(404, "no-route", "there is nothing here: /openapi.json lists what there is");
    }),
  );
  return app;

  /** Counted as under way, and by its key's limits, until it is released; one that fails is. */
  function entering(place: Place, work: (entry: Entry) => Promise<Response>) {
    return (c: Ctx): Promise<Response> =>
      answered(c, deps, place, async (caller, requestId, failed) => {
        const free = caller === null ? () => {} : taken(deps.limits.take(accountOf(caller)));
        const close = deps.metrics.open();
        const release = (): void => {
          close();
          free();
        };
        try {
          return await work({ c, caller, requestId, release, failed });
        } catch (error) {
          release();
          throw error;
        }
      });
  }

  function routed(route: Route) {
    return async ({ c, caller, release }: Entry): Promise<Response> => {
      const { raw } = c.req;
      const { headers, signal } = raw;
      const params = Object.fromEntries(pathNames(route.path).map((name) => [name, c.req.param(name) ?? ""]));
      const input = await readInput(route, raw, deps);
      const own = caller === null ? deps.home : deps.home.forUser(caller.userId);
      const call = {
        params,
        ...input,
        contentType: headers.get("content-type"),
        caller,
        home: { ...own, store: measuredStore(own.store, deps.metrics.store) },
        // A forwarded credential is a vendor's client's; the API's own callers name the key they mean.
        providerKey: providerKeyOf(headers, { forward: false }),
        meter: meterOf(caller),
        origin: headers.get("origin"),
        lastEventId: headers.get("last-event-id"),
        signal,
      };
      const cut = () => void c.env.outgoing?.destroy();
      return responseOf(route, await route.handle(call as Call<never, never>), {
        release,
        signal,
        cut,
        after: deps.after,
      });
    };
  }

  async function compatible({ c, caller, requestId, release, failed }: Entry): Promise<Response> {
    const { raw } = c.req;
    const { headers } = raw;
    const { pathname, search } = new URL(raw.url);
    const home = deps.home.forUser(caller!.userId);
    const request: CompatibleRequest = {
      method: raw.method,
      path: pathname.slice("/v1".length),
      search,
      headers,
      body: () => readBytes(c.env.incoming ?? raw.body ?? [], headers.get("content-length"), deps.bodyBytes),
      caller: caller!,
      threads: { ...home, store: measuredStore(home.store, deps.metrics.store) },
      home,
      providerKey: deps.providerKeyOf(headers),
      meter: meterOf(caller),
      own: { ...SAFE, "x-request-id": requestId },
      failed,
    };
    const response = await deps.compatible.serve(request, c.env.outgoing as ServerResponse | undefined);
    release();
    return response;
  }

  async function mcp({ c, caller, release }: Entry): Promise<Response> {
    const response = await deps.mcp(c.req.raw, deps.home.forUser(caller!.userId));
    const { body } = response;
    if (body === null) release();
    return new Response(body && released(body, release), response);
  }

  function meterOf(caller: Caller | null): Meter {
    return deps.metrics.meter((tokens) => {
      if (caller !== null) deps.limits.spend(accountOf(caller), tokens);
    });
  }
}

/** What a request needs to come in, and what it is called in the metrics. */
type Place = Pick<Route, "access" | "path">;

/** The vendors' own paths, which no table of ours lists. */
const COMPATIBLE = { access: "provider", path: "/v1/*" } as const;

/** Its answers are its protocol's own. */
const MCP = { access: "user", path: "/mcp" } as const;

/** As the router writes it. */
function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === "path" ? ":path{.+}" : `:${name}`));
}

/** What isn't a route is as closed as one. */
const NOWHERE = { access: "user", path: "(none)" } as const;

/** Where there are no keys everything is one person's. */
function accountOf({ key }: Caller): string {
  return key ?? "local";
}

async function answered(
  c: Ctx,
  { keysOf, userHeader, metrics, log, clock, ids, compatible }: AppDeps,
  { access, path: route }: Place,
  work: (caller: Caller | null, requestId: string, failed: CompatibleRequest["failed"]) => Promise<Response>,
): Promise<Response> {
  const started = clock();
  const request = ids();
  const { raw } = c.req;
  let caller: Caller | null = null;
  let failure: LoggedFailure | null = null;
  let response: Response;
  try {
    const verdict = admit(factsOf(c, access, userHeader), await keysFor(access, () => keysOf(raw.headers)));
    if (verdict.kind === "refused") throw new ProblemError(verdict.status, verdict.code, verdict.message);
    caller = verdict.caller;
    response = await work(caller, request, (error) => {
      failure = loggedFailure(error);
    });
  } catch (error) {
    const problem = problemOf(error);
    const { status } = problem;
    failure = loggedFailure(error);
    const isVendors = route === COMPATIBLE.path;
    response = isVendors
      ? compatible.refuse(new URL(raw.url).pathname, raw.headers, problem)
      : problemResponse(problem);
    if (status === 401) response.headers.set("www-authenticate", "Bearer");
  }
  for (const [name, value] of Object.entries(SAFE)) if (!response.headers.has(name)) response.headers.set(name, value);
  response.headers.set("x-request-id", request);
  const { status } = response;
  const ms = clock().getTime() - started.getTime();
  metrics.request({ route, method: METHODS.has(raw.method) ? raw.method : "other", status, ms });
  log({
    time: started.toISOString(),
    level: status >= 500 ? "error" : "info",
    request,
    method: raw.method,
    path: loggedPath(raw.url),
    status,
    ms,
    user: caller?.userId ?? null,
    key: caller?.key ?? null,
    ...failure,
  });
  return response;
}

interface LoggedFailure {
  readonly code: string;
  readonly error?: string;
}

function loggedFailure(error: unknown): LoggedFailure {
  const { status, code } = problemOf(error);
  return { code, ...(status >= 500 && { error: error instanceof Error ? `${error.stack}` : String(error) }) };
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** What is open to anybody says how the server is also while the store doesn't answer. */
async function keysFor(access: Access, find: () => Promise<KeyFacts>): Promise<KeyFacts> {
  if (access !== "open" && access !== "page") return find();
  return find().catch(() => ({ exist: true, presented: "none", providerUser: null }));
}

/** What an answer may do in a browser: nothing. */
const SAFE = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

function factsOf(c: Ctx, access: Access, userHeader: string | null): RequestFacts {
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
    namedUser: namedUser(headers, userHeader),
    access,
  };
}

/** Two headers that name two users name nobody, which is refused. */
function namedUser(headers: Headers, other: string | null): string | null {
  const ours = asUtf8(headers.get("x-palimpsest-user"));
  const theirs = other === null ? null : asUtf8(headers.get(other));
  return ours !== null && theirs !== null && ours !== theirs ? "" : (ours ?? theirs);
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
  throw new ProblemError(429, "limited", `${LIMITED[result.by]}: try again in ${seconds} s`, {
    headers: { "retry-after": String(seconds) },
  });
}

const LIMITED: Readonly<Record<LimitKind, string>> = {
  requests: "this key has made its requests of this minute",
  tokens: "this key has used up its tokens of this minute",
  running: "so many requests of this key are running already",
};
