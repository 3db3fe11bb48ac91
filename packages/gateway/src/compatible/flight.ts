/**
 * An answer on its way: what came so far is kept until its end, so that a client which lost its connection and asks again
 * gets the same answer and not another one. Without a listener it goes on for a while, then it is given up.
 */

import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { SharedRuns } from "palimpsest/stores";
import { type After, afterTime } from "../http/event-stream.ts";

export interface Flight {
  /** Aborts when the last listener has left or the answer is given up. */
  readonly abandoned: AbortSignal;
  abandon(): void;
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  hasHead(): boolean;
  write(bytes: Uint8Array): Promise<void>;
  end(how: "ended" | "broken"): void;
  /** Also gets what came before. */
  attach(client: ClientConnection): void;
  /** The same for one that doesn't count as hearing it. */
  watch(client: ClientConnection): void;
  isHeard(): boolean;
}

/** How long an answer goes on without a listener. */
const GRACE_MS = 5_000;

/** `forever`: it goes on to its end, with or without listeners. */
export function createFlight(graceMs: number | "forever" = GRACE_MS, after: After = afterTime): Flight {
  const abandoned = new AbortController();
  const clients = new Set<ClientConnection>();
  const watchers = new Set<ClientConnection>();
  const all = (): ClientConnection[] => [...clients, ...watchers];
  const pieces: Uint8Array[] = [];
  let begun: readonly [number, Readonly<Record<string, string | string[]>>] | null = null;
  let state: "open" | "ended" | "broken" = "open";
  let cancel = (): void => {};
  const leave = (client: ClientConnection): void => {
    clients.delete(client);
    if (clients.size > 0 || state !== "open" || graceMs === "forever") return;
    cancel = after(graceMs, () => abandoned.abort());
  };
  const catchUp = (client: ClientConnection): void => {
    if (begun !== null) client.head(...begun);
    for (const bytes of pieces) void client.write(bytes);
    finish(client);
  };
  const finish = (client: ClientConnection): void => {
    if (state === "ended") client.end();
    if (state === "broken") client.breakOff();
  };
  return {
    abandoned: abandoned.signal,
    abandon: () => abandoned.abort(),
    head(status, headers) {
      begun = [status, headers];
      for (const client of all()) client.head(status, headers);
    },
    hasHead: () => begun !== null,
    async write(bytes) {
      pieces.push(bytes);
      for (const client of all()) await client.write(bytes);
    },
    end(how) {
      state = how;
      cancel();
      for (const client of all()) finish(client);
    },
    attach(client) {
      cancel();
      clients.add(client);
      client.left.addEventListener("abort", () => leave(client), { once: true });
      if (client.left.aborted) leave(client);
      catchUp(client);
    },
    watch(client) {
      watchers.add(client);
      catchUp(client);
    },
    isHeard: () => clients.size > 0,
  };
}

/* The connection to the client, written no faster than the client reads. */

export interface ClientConnection {
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** As a provider that breaks off: the client can tell it from an end. */
  breakOff(): void;
  /** It has left before the end. */
  readonly left: AbortSignal;
}

/** Straight to the connection: a web stream in between would cost more than all the rest. */
export function nodeClient(outgoing: ServerResponse): ClientConnection {
  const left = new AbortController();
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) left.abort();
  });
  outgoing.on("error", () => left.abort());
  return {
    head(status, headers) {
      outgoing.writeHead(status, headers);
      outgoing.flushHeaders();
    },
    async write(bytes) {
      if (left.signal.aborted || outgoing.write(bytes)) return;
      await once(outgoing, "drain", { signal: left.signal }).catch(() => {});
    },
    end: () => void outgoing.end(),
    breakOff: () => void outgoing.destroy(),
    left: left.signal,
  };
}

/** For other servers that speak `fetch`: the response is there when its head is. */
export function webClient(): { readonly client: ClientConnection; readonly response: Promise<Response> } {
  const left = new AbortController();
  const answered = Promise.withResolvers<Response>();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.closed.catch(() => left.abort());
  const client: ClientConnection = {
    head(status, headers) {
      const given = new Headers();
      for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) given.append(name, one);
      answered.resolve(new Response(status === 204 || status === 304 ? null : readable, { status, headers: given }));
    },
    write: (bytes) => writer.write(bytes).catch(() => {}),
    end: () => void writer.close().catch(() => {}),
    breakOff: () => void writer.abort(new Error("the provider broke off")).catch(() => {}),
    left: left.signal,
  };
  return { client, response: answered.promise };
}

/*
 * Keep-alive comments while a summary is written: clients give up after some minutes of silence. After the first comment the
 * answer has begun, so a later failure goes into the stream.
 */

const EVERY_MS = 10_000;
/** A comment: all three protocols' clients pass over it, also before the first event. */
const COMMENT = Buffer.from(": a summary is being written\n\n");

export async function keepAlive<T>(
  work: Promise<T>,
  flight: Pick<Flight, "hasHead" | "head" | "write">,
  { after, headers }: { readonly after: After; readonly headers: Readonly<Record<string, string>> },
): Promise<T> {
  const tell = (): void => {
    if (!flight.hasHead()) flight.head(200, { ...headers, "content-type": "text/event-stream" });
    void flight.write(COMMENT);
    cancel = after(EVERY_MS, tell);
  };
  let cancel = after(EVERY_MS, tell);
  try {
    return await work;
  } finally {
    cancel();
  }
}

/*
 * An answer whose client has left, published to the other instances: a retry may reach another one. Nothing is written before
 * the client leaves. Each event is one line: first the head, then the bytes, at last how it ended.
 */

interface SharedFlight {
  readonly runs: SharedRuns;
  /** What was asked, by whom. */
  readonly key: string;
  readonly threadId: string;
}

type FlightLine =
  | { readonly head: readonly [number, Readonly<Record<string, string | string[]>>] }
  | { readonly bytes: string }
  | { readonly end: "ended" | "broken" };

const TTL_MS = 10_000;
const ROUND_MS = 100;

/** From the moment at which its only client has left. */
export function shareUnheard(flight: Flight, left: AbortSignal, shared: SharedFlight): void {
  left.addEventListener("abort", () => void share(flight, shared).catch(() => {}), { once: true });
}

async function share(flight: Flight, { runs, key, threadId }: SharedFlight): Promise<void> {
  if (flight.isHeard()) return;
  const lines: FlightLine[] = [];
  let isOver = false;
  const end = (how: "ended" | "broken") => {
    lines.push({ end: how });
    isOver = true;
  };
  flight.watch({
    head: (status, headers) => void lines.push({ head: [status, headers] }),
    write: async (bytes) => void lines.push({ bytes: Buffer.from(bytes).toString("base64") }),
    end: () => end("ended"),
    breakOff: () => end("broken"),
    left: NEVER,
  });
  const [id, holder] = [randomUUID(), randomUUID()];
  const put = await runs.put({ id, threadId, model: null, request: requestOf(key), holder, ttlMs: TTL_MS });
  if (put.kind === "taken") return;
  let [written, isHeld] = [0, false];
  while (!isOver) {
    await round();
    const batch = lines.slice(written).map((line) => JSON.stringify(line));
    if (batch.length > 0) await runs.write(id, holder, { first: written + 1, events: batch });
    written += batch.length;
    const [own] = await runs.held(holder, TTL_MS);
    if (own?.follow !== true || isHeld) continue;
    // A client hears it on another instance: it goes on to its end.
    isHeld = true;
    flight.attach(SILENT);
  }
  const rest = lines.slice(written).map((line) => JSON.stringify(line));
  await runs.end(id, { holder, batch: { first: written + 1, events: rest }, outcome: "{}" });
}

/**
 * `joined`: the client got the answer that is under way on another instance, or as much of it as there was. One whose process
 * is gone before it said anything is none.
 */
export async function joinElsewhere(
  client: ClientConnection,
  { runs, key }: Pick<SharedFlight, "runs" | "key">,
): Promise<"joined" | "none"> {
  const id = await runs.find({ request: requestOf(key) });
  if (id === undefined || (await runs.ask(id, "follow")) === "missing") return "none";
  for (let last = 0; !client.left.aborted; ) {
    const page = await runs.read(id, last);
    const lines = page?.batches.flatMap(({ events }) => events) ?? [];
    last += lines.length;
    for (const line of lines) if ((await handOn(client, JSON.parse(line) as FlightLine)) === "over") return "joined";
    if (lines.length > 0) continue;
    if (page === undefined || page.state !== "live") {
      if (last === 0) return "none";
      client.breakOff();
      return "joined";
    }
    await round();
  }
  return "joined";
}

async function handOn(client: ClientConnection, line: FlightLine): Promise<"on" | "over"> {
  if ("head" in line) client.head(...line.head);
  else if ("bytes" in line) await client.write(Buffer.from(line.bytes, "base64"));
  else {
    if (line.end === "ended") client.end();
    else client.breakOff();
    return "over";
  }
  return "on";
}

const NEVER = new AbortController().signal;
const SILENT: ClientConnection = { head() {}, write: async () => {}, end() {}, breakOff() {}, left: NEVER };

function requestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}

function round(): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ROUND_MS));
}
