/**
 * A client of a gateway, for programs and browsers: nothing but `fetch`. Every route is called by its name, and what goes
 * in and comes out has the types that the gateway checks with; a run is followed to its end.
 */
import { ClientError, errorOf } from "./client-error.ts";
import { type FollowDeps, type FollowedRun, type FollowOptions, followEvents, type NewRun } from "./followed-run.ts";
import type { Routes } from "./routes.ts";

export interface ClientOptions {
  /** Where the gateway is; in a page that it serves itself, nothing. */
  readonly url?: string;
  /** `pal_...`; none where the gateway has no keys. */
  readonly key?: string;
  /** Whom to act for; the key's role has to allow it. */
  readonly user?: string;
  readonly fetch?: (address: string, init: RequestInit) => Promise<Response>;
  /** Between two attempts to follow a run on. */
  readonly wait?: FollowDeps["wait"];
}

export interface Client {
  /** `call("GET /api/threads/{id}", { params: { id } })`. Throws a `ClientError` where the gateway refuses. */
  call<Name extends keyof Routes>(name: Name, ...input: InputOf<Routes[Name]>): Promise<Routes[Name]["answer"]>;
  /** Starts a run on a thread; to be read as its events, which go on where a connection breaks. */
  run(threadId: string, run: NewRun, options?: Pick<FollowOptions, "signal">): Promise<FollowedRun>;
  /** The events of a run that was started somewhere, from the first or behind one that is known. */
  follow(run: string, options?: FollowOptions): Promise<FollowedRun>;
}

/** What a route takes, and `signal`; nothing where everything of it may be left out. */
type InputOf<R> = Record<never, never> extends Omit<R, "answer"> ? [input?: RouteInput<R>] : [input: RouteInput<R>];

type RouteInput<R> = Omit<R, "answer"> & { readonly signal?: AbortSignal };

interface RouteRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export function createClient(options: ClientOptions = {}): Client {
  const { wait = pause } = options;
  const send = sender(options);
  const call = async (name: string, input: RouteRequest = {}): Promise<unknown> => {
    const response = await send(name, input);
    if (!response.ok) throw await errorOf(response);
    return response.headers.get("content-type")?.startsWith("application/json") ? response.json() : response.text();
  };
  const followed = (
    run: { readonly id: string; readonly thread: string },
    { after = 0, signal, first = null }: FollowOptions & { readonly first?: Response | null },
  ): FollowedRun => {
    const place = { lastEvent: after };
    const params = { run: run.id };
    const open = (last: number) =>
      send("GET /api/runs/{run}/stream", { params, signal, headers: { "last-event-id": String(last) } });
    let started = first;
    return {
      ...run,
      get lastEvent() {
        return place.lastEvent;
      },
      async cancel() {
        await call("POST /api/runs/{run}/cancel", { params, body: {} });
      },
      [Symbol.asyncIterator]() {
        const response = started;
        started = null;
        return followEvents(response, { open, wait }, { place, signal });
      },
    };
  };
  return {
    call: (name, ...[input]) => call(name, input as RouteRequest) as Promise<never>,
    async run(threadId, body, { signal } = {}) {
      const request = { params: { id: threadId }, body: { ...body, stream: true }, signal };
      const first = await send("POST /api/threads/{id}/runs", request);
      if (!first.ok) throw await errorOf(first);
      const id = first.headers.get("x-palimpsest-run") ?? "";
      const own = decodeURIComponent(first.headers.get("x-palimpsest-thread") ?? threadId);
      return followed({ id, thread: own }, { first, ...(signal !== undefined && { signal }) });
    },
    async follow(run, follow = {}) {
      const { thread } = (await call("GET /api/runs/{run}", { params: { run }, signal: follow.signal })) as {
        readonly thread: string;
      };
      return followed({ id: run, thread }, follow);
    },
  };
}

function sender({ url = "", key, user, fetch: given }: ClientOptions) {
  // Not taken before it is needed: others may have put their own in its place.
  const ask = given ?? ((address: string, init: RequestInit) => fetch(address, init));
  return async (
    name: string,
    { params = {}, query = {}, body, signal, headers = {} }: RouteRequest,
  ): Promise<Response> => {
    const [method = "GET", path = ""] = name.split(" ");
    const address = url.replace(/\/$/, "") + filled(path, params) + queryText(query);
    const { content, type } = written(method === "GET" ? undefined : (body ?? {}));
    const init: RequestInit = {
      method,
      redirect: "error",
      headers: {
        ...headers,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(user !== undefined && { "x-palimpsest-user": headerText(user) }),
        ...(content !== undefined && { "content-type": type }),
      },
      ...(content !== undefined && { body: content }),
      ...(signal !== undefined && { signal }),
    };
    try {
      return await ask(address, init);
    } catch (error) {
      if (signal?.aborted === true) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new ClientError("unreachable", `${url} can't be reached: ${why}`, { cause: error });
    }
  };
}

/** A text is lines, a blob an archive, everything else JSON. */
function written(body: unknown): { readonly content: string | Blob | undefined; readonly type: string } {
  if (typeof body === "string") return { content: body, type: "application/jsonl" };
  if (body instanceof Blob) return { content: body, type: "application/zip" };
  return { content: body === undefined ? undefined : JSON.stringify(body), type: "application/json" };
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function queryText(query: NonNullable<RouteRequest["query"]>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** A header has bytes, and `fetch` takes each character for one. */
function headerText(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
