/**
 * The way of every request that is valid HTTP: an id, the door (`access/admit.ts`), what it brought (`http/input.ts`), the
 * route's work, the answer, one line in the log. Routes know nothing of HTTP beyond their entry in the table.
 */
import type { ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { Home } from "palimpsest/internal/home";
import {
  type Access,
  admit,
  type Caller,
  isHostAllowed,
  isLoopback,
  isOperator,
  type KeyFacts,
  providerKeyOf,
  type RequestFacts,
} from "../access/admit.ts";
import { type RequestLimits, requestPlaces, type Strangers } from "../access/limits.ts";
import type { Compatible, CompatibleRequest } from "../compatible/serve.ts";
import type { After } from "../http/event-stream.ts";
import { readInput, readShallow } from "../http/input.ts";
import { clientLeft, closing, isBrokenOff, ProblemError, problemOf, problemResponse } from "../http/problem.ts";
import { type Call, pathNames, type Route } from "../http/route.ts";
import type { Metrics, RequestMeter } from "../metrics/metrics.ts";
import type { UnderWay } from "./listen.ts";
import type { Log } from "./log.ts";
import type { PageFiles } from "./page-files.ts";
import { requestStore, type StoreGuard, type StoreHealth } from "./request-store.ts";
import { released, responseOf } from "./response.ts";

export interface AppDeps {
  readonly routes: readonly Route[];
  readonly home: Home;
  readonly keysOf: (headers: Headers) => Promise<KeyFacts>;
  readonly providerKeyOf: (headers: Headers) => string | null;
  /** Beside `X-Palimpsest-User`. */
  readonly userHeader: string | null;
  /** Names under which it may be called; null: any. */
  readonly hosts: readonly string[] | null;
  readonly metrics: Metrics;
  readonly compatible: Compatible;
  /** The Model Context Protocol, for the user that a home is of. */
  readonly mcp: (request: Request, home: Home) => Promise<Response>;
  readonly page: PageFiles;
  readonly limits: RequestLimits;
  readonly strangers: Strangers;
  /** In which a proxy names the address that a request comes from; null: the connection's. */
  readonly addressHeader: string | null;
  readonly bodyBytes: number;
  readonly bodyNesting: number;
  readonly log: Log;
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly after: After;
  readonly underWay: UnderWay;
  readonly health: StoreHealth;
  /** Once it aborts, what is under way may finish, and new work is refused. */
  readonly closing: AbortSignal;
}

type App = Hono<{ Bindings: Partial<HttpBindings> }>;
type Ctx = Context<{ Bindings: Partial<HttpBindings> }>;

/** A request that was let in, and the function that says that it is no longer under way; the first time counts. */
interface AdmittedRequest {
  readonly c: Ctx;
  readonly caller: Caller | null;
  readonly requestId: string;
  readonly release: () => void;
  readonly failed: CompatibleRequest["failed"];
  readonly meter: RequestMeter;
}

export function createApp(deps: AppDeps): App {
  const app: App = new Hono();
  const places = requestPlaces(deps);
  const storeOf = ({ store }: Home, guard: StoreGuard = {}) =>
    requestStore(store, { took: deps.metrics.store, health: deps.health, ...guard });
  for (const route of deps.routes) app.on(route.method, patternOf(route.path), entering(route, routed(route)));
  app.all("/v1/*", entering(COMPATIBLE, compatible));
  app.all("/mcp", entering(MCP, mcp));
  for (const path of deps.page.paths)
    app.get(path, (c) =>
      answered(c, deps, { access: "page", path: "(page)" }, async () => deps.page.answer(c.req.raw)),
    );
  app.notFound((c) => nothingHere(c, deps));
  return app;

  /** Counted as under way, and by its key's limits, until it is released; one that fails is. */
  function entering(place: RoutePlace, work: (entry: AdmittedRequest) => Promise<Response>) {
    return (c: Ctx): Promise<Response> =>
      answered(c, deps, place, async (caller, requestId, failed) => {
        if (deps.closing.aborted && isNewWork(place)) throw closing();
        const taken =
          caller === null
            ? null
            : await places.take(caller, { place, request: c.req.raw, address: addressOf(c, deps.addressHeader) });
        const ended = deps.underWay.open({ ...deps, caller, headers: c.req.raw.headers, outgoing: c.env.outgoing });
        const release = (): void => {
          ended();
          taken?.release();
        };
        const meter = deps.metrics.meter((tokens) => taken?.spend(tokens));
        try {
          return await work({ c, caller, requestId, release, failed, meter });
        } catch (error) {
          release();
          throw error;
        }
      });
  }

  function routed(route: Route) {
    return async ({ c, caller, release, meter }: AdmittedRequest): Promise<Response> => {
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
        home: { ...own, store: storeOf(own) },
        // A forwarded credential is a vendor's client's; the API's own callers name the key they mean.
        providerKey: providerKeyOf(headers, { forward: false }),
        meter,
        origin: headers.get("origin"),
        cookies: headers.get("cookie"),
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

  async function compatible({ c, caller, requestId, release, failed, meter }: AdmittedRequest): Promise<Response> {
    const { raw } = c.req;
    const { pathname, search } = new URL(raw.url);
    const isStranger = () => places.isStranger(caller!);
    const home = deps.home.forUser(caller!.userId);
    const started = deps.clock().getTime();
    const request: CompatibleRequest = {
      method: raw.method,
      path: pathname.slice("/v1".length),
      search,
      headers: raw.headers,
      body: () => readShallow(c.env.incoming ?? raw.body ?? [], raw.headers.get("content-length"), deps),
      caller: caller!,
      threads: { ...home, store: storeOf(home, { isStranger }) },
      storeWithin: (silenceMs) => storeOf(home, { isStranger, silenceMs }),
      providerKey: deps.providerKeyOf(raw.headers),
      meter,
      own: { ...SAFE, "x-request-id": requestId },
      begun: () => deps.metrics.firstByte(deps.compatible.routeOf(pathname), deps.clock().getTime() - started),
      failed,
      unstored: deps.health.failed,
      isStranger,
      accepted: () => deps.strangers.accept(caller!.userId),
    };
    const response = await deps.compatible.serve(request, c.env.outgoing as ServerResponse | undefined);
    release();
    return response;
  }

  async function mcp({ c, caller, release }: AdmittedRequest): Promise<Response> {
    const response = await deps.mcp(c.req.raw, deps.home.forUser(caller!.userId));
    const { body } = response;
    if (body === null) release();
    return new Response(body && released(body, release), response);
  }
}

/** What a request needs to come in, and what it is called in the metrics. */
type RoutePlace = Pick<Route, "access" | "path" | "spends">;

/** The vendors' own paths, which no table of ours lists. */
const COMPATIBLE = { access: "provider", path: "/v1/*", spends: "tokens" } as const;

/** Its answers are its protocol's own. */
const MCP = { access: "user", path: "/mcp" } as const;

/** While the server shuts down it still says how it is, and lets runs that are under way be followed and stopped. */
function isNewWork({ access, path }: RoutePlace): boolean {
  return access !== "open" && access !== "page" && !path.startsWith("/api/runs/");
}

function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === "path" ? ":path{.+}" : `:${name}`));
}

/** What isn't a route is as closed as one. */
const NOWHERE = { access: "user", path: "(none)" } as const;

/** A person gets the page, which says the same. */
function nothingHere(c: Ctx, deps: AppDeps): Promise<Response> {
  if (c.req.method === "GET" && c.req.header("accept")?.includes("text/html") === true)
    return answered(c, deps, { access: "page", path: "(page)" }, async () => deps.page.answer(c.req.raw, 404));
  return answered(c, deps, NOWHERE, async () => {
    throw new ProblemError(404, "no-route", "there is nothing here: /openapi.json lists what there is");
  });
}

async function answered(
  c: Ctx,
  deps: AppDeps,
  { access, path: place }: RoutePlace,
  work: (caller: Caller | null, requestId: string, failed: CompatibleRequest["failed"]) => Promise<Response>,
): Promise<Response> {
  const { keysOf, metrics, log, clock, ids, compatible } = deps;
  const started = clock();
  const request = ids();
  const { raw } = c.req;
  const isVendors = place === COMPATIBLE.path;
  let caller: Caller | null = null;
  let failure: LoggedFailure | null = null;
  let response: Response;
  try {
    const verdict = admit(factsOf(c, { access, path: place }, deps), await keysFor(access, () => keysOf(raw.headers)));
    if (verdict.kind === "refused") throw new ProblemError(verdict.status, verdict.code, verdict.message);
    caller = verdict.caller;
    response = await work(caller, request, (error) => {
      failure = loggedFailure(error);
    });
  } catch (thrown) {
    // Work that its signal stops throws the signal's reason, which is no error but a text of the server's.
    const brokeOff = isBrokenOff(thrown) || thrown === raw.signal.reason;
    const error = brokeOff && hasLeft(c) ? clientLeft() : thrown;
    const problem = problemOf(error, !isVendors && caller !== null && isOperator(caller) ? "operator" : "user");
    const { status } = problem;
    failure = loggedFailure(error);
    response = isVendors
      ? compatible.refuse(new URL(raw.url).pathname, raw.headers, problem)
      : problemResponse(problem);
    if (status === 401) response.headers.set("www-authenticate", "Bearer");
  }
  for (const [name, value] of Object.entries(SAFE)) if (!response.headers.has(name)) response.headers.set(name, value);
  response.headers.set("x-request-id", request);
  const { status } = response;
  const ms = clock().getTime() - started.getTime();
  const route = isVendors ? compatible.routeOf(new URL(raw.url).pathname) : place;
  metrics.request({ route, method: METHODS.has(raw.method) ? raw.method : "other", status, ms });
  log({
    time: started.toISOString(),
    level: status >= 500 ? "error" : "info",
    request,
    method: raw.method,
    // Paths hold ids only; anything longer is not one of ours.
    path: new URL(raw.url).pathname.slice(0, 300),
    status,
    ms,
    user: caller?.userId ?? null,
    key: caller?.key ?? null,
    ...failure,
  });
  return response;
}

function hasLeft({ env, req }: Ctx): boolean {
  const { outgoing } = env;
  return req.raw.signal.aborted || (outgoing?.destroyed === true && !outgoing.writableFinished);
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

/** Routes that need no key are served while the store doesn't answer: `/healthz` and `/readyz` among them. */
async function keysFor(access: Access, find: () => Promise<KeyFacts>): Promise<KeyFacts> {
  if (access !== "open" && access !== "page") return find();
  return find().catch(() => ({ exist: true, presented: "none", providerUser: null }));
}

/** Headers of every answer. They keep browsers from storing, framing or running it. A route's own win; at `/v1` these win. */
const SAFE = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

function factsOf(
  c: Ctx,
  { access, path }: RoutePlace,
  { userHeader, hosts }: Pick<AppDeps, "userHeader" | "hosts">,
): RequestFacts {
  const { headers, method } = c.req.raw;
  // Without a server of ours the connection is unknown.
  const address = c.env.incoming?.socket.localAddress;
  return {
    method,
    connection: address !== undefined && isOwnMachine(address) ? "loopback" : "other",
    host: headers.get("host"),
    // A balancer asks for these by an address.
    hostAllowed: path === "/healthz" || path === "/readyz" || isHostAllowed(headers.get("host"), hosts),
    origin: headers.get("origin"),
    fetchSite: headers.get("sec-fetch-site"),
    fetchMode: headers.get("sec-fetch-mode"),
    contentType: headers.get("content-type"),
    marked: [...headers.keys()].some((name) => name.startsWith("x-palimpsest-")),
    namedUser: isNamedTwice(c, userHeader) ? "" : namedUser(headers, userHeader),
    access,
  };
}

/** Of a header that came twice, `headers` has both values as one: a proxy that adds its own would make up a user. */
function isNamedTwice(c: Ctx, other: string | null): boolean {
  const names = (c.env.incoming?.rawHeaders ?? [])
    .filter((_, index) => index % 2 === 0)
    .map((name) => name.toLowerCase());
  return ["x-palimpsest-user", other?.toLowerCase()].some((name) => names.filter((one) => one === name).length > 1);
}

/** Reject requests whose two user headers disagree. */
function namedUser(headers: Headers, other: string | null): string | null {
  const ours = asUtf8(headers.get("x-palimpsest-user"));
  const theirs = other === null ? null : asUtf8(headers.get(other));
  return ours !== null && theirs !== null && ours !== theirs ? "" : (ours ?? theirs);
}

/** A header arrives as bytes; a user's name may be any text. Bytes that are no text are refused. */
function asUtf8(header: string | null): string | null {
  if (header === null) return null;
  const text = Buffer.from(header, "latin1").toString("utf8");
  return text.includes("\u{FFFD}") ? "" : text;
}

function isOwnMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/, "");
  return isIP(plain) !== 0 && isLoopback(plain);
}

/** As the proxy says that added to the header last. */
function addressOf({ env, req }: Ctx, header: string | null): string | null {
  const given = header === null ? null : (req.raw.headers.get(header)?.split(",").at(-1)?.trim() ?? null);
  return given ?? env.incoming?.socket.remoteAddress ?? null;
}
