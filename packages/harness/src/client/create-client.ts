/**
 * A client of a gateway, for programs and browsers: nothing but `fetch`. Every route is called by its name, and what goes
 * in and comes out has the types that the gateway checks with; a run is followed to its end.
 */

import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { AgentEvent } from "../agent/events.ts";
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
      return followed({ id, thread: own }, { first, signal });
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

/** What the gateway answered instead, or why it could not be asked. `code` is the gateway's; `unreachable` is ours. */
export class ClientError extends PalimpsestError {
  static override readonly kind = "ClientError";
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  readonly details: unknown;
  /** What the answer asks for. */
  readonly retryAfterMs: number | null;

  constructor(code: string, message: string, facts: Partial<Omit<ClientError, "code">> = {}) {
    super(code, message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.status = facts.status ?? null;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** Any server's answer, also one that isn't the gateway's, such as a proxy's. */
async function errorOf(response: Response): Promise<ClientError> {
  const text = await response.text().catch(() => "");
  const { code, message, details } = errorIn(text);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ClientError(code ?? `http-${response.status}`, message ?? `the gateway answered ${response.status}`, {
    status: response.status,
    details,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  });
}

interface ErrorAnswer {
  readonly code?: string;
  readonly message?: string;
  readonly details?: unknown;
}

/** Of `{"error": {code, message, details?}}`; nothing where it is something else. */
function errorIn(text: string): ErrorAnswer {
  try {
    const { error } = JSON.parse(text) as { readonly error?: ErrorAnswer };
    return typeof error?.code === "string" ? error : {};
  } catch {
    return {};
  }
}

/*
 * A run that is followed to its end, whatever becomes of the connection: when it breaks, the events go on behind the last
 * one that was read. Each event comes once.
 */

type RunBody = NonNullable<Routes["POST /api/threads/{id}/runs"]["body"]>;

/** What a run is asked for with; it is always streamed. */
export type NewRun = Omit<RunBody, "stream">;

export interface FollowOptions {
  /** The id of the last event that is known already. */
  readonly after?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface FollowedRun extends AsyncIterable<AgentEvent> {
  readonly id: string;
  readonly thread: string;
  /** The id of the newest event that was read, to go on from there at another time. */
  readonly lastEvent: number;
  cancel(): Promise<void>;
}

interface FollowDeps {
  /** Asks for the events behind this one. */
  readonly open: (after: number) => Promise<Response>;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** How a client may be told of it: the agent's events and nothing else. */
async function* followEvents(
  first: Response | null,
  { open, wait }: FollowDeps,
  { place, signal }: { readonly place: { lastEvent: number }; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<AgentEvent, undefined> {
  let response = first;
  for (let failures = 0; ; ) {
    try {
      response ??= await open(place.lastEvent);
      if (!response.ok) throw await errorOf(response);
      for await (const { id, event } of eventsOf(response)) {
        // One that was read before the connection broke.
        if (id <= place.lastEvent) continue;
        place.lastEvent = id;
        failures = 0;
        yield event;
        if (event.type === "run-end") return undefined;
      }
    } catch (error) {
      if (signal?.aborted === true || isFinal(error) || failures >= MOST_FAILURES) throw error;
    }
    response = null;
    failures += 1;
    if (failures > MOST_FAILURES) throw new ClientError("unreachable", "the run's events broke off, again and again");
    await wait(Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS), signal);
  }
}

/** About a minute in all. */
const MOST_FAILURES = 12;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** Asking again would be answered the same. */
function isFinal(error: unknown): boolean {
  if (!ClientError.isInstance(error) || error.code === "unreachable") return false;
  return error.status === null || (error.status < 500 && error.status !== 429 && error.status !== 408);
}

async function* eventsOf(response: Response): AsyncGenerator<{ readonly id: number; readonly event: AgentEvent }> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const events = new ServerEventReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { id, name, data } of events.read(value)) {
        if (name === "error") throw toldError(data);
        yield { id: Number(id), event: JSON.parse(data) as AgentEvent };
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Said in the stream: the run is over, or its events are. */
function toldError(data: string): ClientError {
  const { code = "failed", message = "the run's events ended with an error" } = errorIn(data);
  return new ClientError(code, message);
}

/** Server-sent events out of the pieces of a body, as browsers read them. Pure. */
export interface ServerEvent {
  readonly id: string | null;
  /** `message` unless it says otherwise. */
  readonly name: string;
  readonly data: string;
}

export class ServerEventReader {
  #rest = "";

  /** The events that this piece completes. A comment is none. */
  read(piece: string): ServerEvent[] {
    // A piece may end between the two characters of one line's end.
    const text = this.#rest + piece;
    const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
    const blocks = whole.split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = (blocks.pop() ?? "") + text.slice(whole.length);
    return blocks.flatMap((block) => eventIn(block) ?? []);
  }
}

function eventIn(block: string): ServerEvent | null {
  const data: string[] = [];
  let id: string | null = null;
  let name = "message";
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") data.push(value);
    if (field === "event") name = value;
    if (field === "id") id = value;
  }
  return data.length === 0 ? null : { id, name, data: data.join("\n") };
}
