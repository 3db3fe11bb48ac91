/** The compatible endpoints as the server sees them: a request in, its answer straight to the connection. */

import type { ServerResponse } from "node:http";
import type { Memory } from "palimpsest";
import type { ConfigFile } from "palimpsest/home";
import type { Home } from "palimpsest/internal/home";
import { OFFLINE, windowOf } from "palimpsest/internal/models";
import { keepEmbedded, untilEmbedded } from "palimpsest/internal/recall";
import type { ModelEntry } from "palimpsest/models";
import type { OpenThreadOptions, ThreadDeps } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { type Caller, isProviderUser } from "../access/admit.ts";
import type { After } from "../http/event-stream.ts";
import { type HttpProblem, ProblemError } from "../http/problem.ts";
import { paramIn } from "../http/read-json.ts";
import type { RequestMeter } from "../metrics/metrics.ts";
import { anthropicMessages } from "./anthropic/vendor.ts";
import { converse } from "./converse.ts";
import { answerWith, count } from "./counting.ts";
import { type OpenThreads, openThreads } from "./find.ts";
import { type ClientConnection, type Flight, nodeClient, webClient } from "./flight.ts";
import { type FrontMemory, frontMemory } from "./front.ts";
import { openaiChat } from "./openai-chat.ts";
import { type LiveResponses, liveResponses } from "./openai-responses/response-ids.ts";
import { decoded, serveHeld } from "./openai-responses/responses.ts";
import { openaiResponses } from "./openai-responses/vendor.ts";
import type { RecentRequests } from "./outcome.ts";
import { passThrough, vendorAt } from "./pass-through.ts";
import type { AnswerBounds } from "./passage.ts";
import type { Vendor } from "./vendor.ts";

interface EndpointOptions
  extends Omit<CompatibleDeps, "open" | "fronts" | "responses" | "flights" | "embedding" | "silenceMs"> {
  /** The embedder of the configuration, if it has one. */
  readonly embedding: Parameters<typeof conversationEmbedding>[0];
  readonly clock: () => Date;
  readonly ids: () => string;
  /** After so long without a word from it, the store is left out; 250 ms unless told. */
  readonly silenceMs?: number | undefined;
}

interface ClosableEndpoints extends Compatible {
  /** Gives up the answers under way: what they have said so far is kept, and their clients see that it isn't all. */
  abandon(): void;
  close(): Promise<void>;
}

const SILENCE_MS = 250;
const SWITCHED_OFF =
  "the /v1 endpoints are switched off here: set gateway.compatible to true in config.yaml and start the gateway again";

export function compatibleEndpoints({
  clock,
  ids,
  silenceMs = SILENCE_MS,
  ...options
}: EndpointOptions): ClosableEndpoints {
  const open = openThreads({ clock, ids });
  const deps: CompatibleDeps = {
    ...options,
    open,
    embedding: conversationEmbedding(options.embedding),
    fronts: frontMemory(),
    flights: new Map(),
    responses: liveResponses(),
    silenceMs,
  };
  const bounds = boundsOf(options);
  return {
    async serve(request, outgoing) {
      if (!options.settings.gateway.compatible) throw new ProblemError(404, "switched-off", SWITCHED_OFF);
      if (outgoing === undefined) {
        const { client: web, response } = webClient();
        const { client } = noting(web, request.begun);
        const done = serve({ ...request, client, bounds }, deps);
        return Promise.race([response, done.then(() => response)]);
      }
      const { client, status } = noting(nodeClient(outgoing), request.begun);
      await serve({ ...request, client, bounds }, deps);
      // What the server is told so that it writes nothing more; the status is for the log.
      return new Response(null, { status: status(), headers: { "x-hono-already-sent": "true" } });
    },
    routeOf,
    refuse(path, headers, { status, code, message, details, headers: more }) {
      const failure = { status, code, message, param: paramIn(details) };
      const body = vendorAt(path.slice("/v1".length), headers).failure(failure);
      return Response.json(body, { status, headers: more ?? {} });
    },
    abandon() {
      for (const flight of deps.flights.values()) flight.abandon();
    },
    async close() {
      await deps.responses.close();
      await open.close();
      await deps.embedding.close();
    },
  };
}

function boundsOf({ settings: { gateway }, after }: Pick<EndpointOptions, "settings" | "after">): AnswerBounds {
  const { answer_limit_mb: megabytes, answer_idle_seconds: seconds } = gateway;
  return { bytes: Math.floor(megabytes * 1024 * 1024), idleMs: seconds === null ? null : seconds * 1000, after };
}

/** `begun`: told once, of the first byte that is no comment to pass the time. */
function noting(
  client: ClientConnection,
  begun: () => void,
): { readonly client: ClientConnection; readonly status: () => number } {
  let noted = 499;
  let hasBegun = false;
  const head: ClientConnection["head"] = (status, headers) => {
    noted = status;
    client.head(status, headers);
  };
  const write: ClientConnection["write"] = (bytes) => {
    if (!hasBegun && bytes.length > 0 && bytes[0] !== COLON) {
      hasBegun = true;
      begun();
    }
    return client.write(bytes);
  };
  return { client: { ...client, head, write }, status: () => noted };
}

const COLON = 58;

/** Paths with their own label. All others share one: clients could invent any number of them. */
const ROUTES: ReadonlySet<string> = new Set([
  "/chat/completions",
  "/messages",
  "/messages/count_tokens",
  "/responses",
  "/responses/input_tokens",
  "/models",
  "/completions",
  "/embeddings",
  "/moderations",
  "/audio/speech",
  "/audio/transcriptions",
  "/audio/translations",
  "/images/generations",
  "/images/edits",
  "/images/variations",
]);

function routeOf(path: string): string {
  const name = path.slice("/v1".length).replace(/\/$/, "");
  if (ROUTES.has(name)) return `/v1${name}`;
  const [, first] = /^\/(models|responses|conversations)\//.exec(name) ?? [];
  return first === undefined ? "/v1/*" : `/v1/${first}/*`;
}

/* Routing: which vendor a path belongs to. Other paths may be passed through. */

async function serve(given: CompatibleCall, deps: CompatibleDeps): Promise<void> {
  // With a slash at its end a path means the same.
  const call = { ...given, path: given.path.replace(/(?<=[^/])\/$/, "") };
  const { method, path } = call;
  if (method === "POST") {
    const served =
      servedBy(openaiChat, call, deps) ??
      servedBy(anthropicMessages, call, deps) ??
      servedBy(openaiResponses, call, deps);
    if (served !== null) return served;
  }
  if (method === "GET" && path === "/models") return answerWith(call, modelList(deps.settings));
  const named = method === "GET" ? /^\/models\/(.+)$/.exec(path)?.[1] : undefined;
  const listed = named === undefined ? null : listedModel(deps.settings, decoded(named));
  if (listed !== null) return answerWith(call, listed);
  if (await serveHeld(call, deps)) return;
  return passThrough(call, deps);
}

/** Null if the path belongs to another vendor. */
function servedBy<M extends object>(
  vendor: Vendor<M>,
  call: CompatibleCall,
  deps: CompatibleDeps,
): Promise<void> | null {
  if (call.path === vendor.path) return converse(call, deps, vendor);
  return call.path === vendor.countPath ? count(call, deps, vendor) : null;
}

/* The list of models, in a body that clients of both vendors can read. */

function modelList(settings: ConfigFile) {
  const data = entriesOf(settings).map((entry) => listed(entry, settings));
  return { object: "list", data, has_more: false, first_id: data[0]!.id, last_id: data.at(-1)!.id };
}

/** Null: there is none of this name. */
function listedModel(settings: ConfigFile, name: string) {
  const entry = entriesOf(settings).find((one) => one.name === name);
  return entry === undefined ? null : listed(entry, settings);
}

function entriesOf({ models }: ConfigFile): readonly ModelEntry[] {
  return models.length === 0 ? [OFFLINE] : models;
}

function listed(entry: ModelEntry, { summarization }: ConfigFile) {
  return {
    id: entry.name,
    object: "model",
    created: 0,
    owned_by: entry.provider,
    type: "model",
    display_name: entry.name,
    created_at: "1970-01-01T00:00:00Z",
    max_input_tokens: windowOf(entry, summarization.fallback_context_window).tokens,
    max_tokens: entry.max_output_tokens ?? null,
  };
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
  readonly threads: Home;
  /** Their store, in which an operation fails that takes longer. */
  readonly storeWithin: (silenceMs: number) => Store;
  readonly providerKey: string | null;
  readonly meter: RequestMeter;
  /** Headers of ours that every answer has. */
  readonly own: Readonly<Record<string, string>>;
  /** To be told when the first byte of the answer is written. */
  readonly begun: () => void;
  /** For the log: what failed where the answer is written already, or in the vendor's words. */
  readonly failed: (error: unknown) => void;
  /** What the client is not told of, because its request passes all the same. */
  readonly unstored: (error: unknown) => void;
  /** Whether all that is known of the caller is a key that no provider has accepted yet: then nothing is written. */
  readonly isStranger: () => boolean;
  /** A provider has answered with the caller's key. */
  readonly accepted: () => void;
}

/** The endpoints that speak the vendors' protocols: they write their answers themselves. */
export interface Compatible {
  /** `outgoing`: the connection, where it is a server of ours. */
  serve(request: CompatibleRequest, outgoing: ServerResponse | undefined): Promise<Response>;
  /** What a path, with its `/v1`, is called in the metrics: one of a few names. */
  routeOf(path: string): string;
  /** A refusal as the vendor of that path words it. */
  refuse(path: string, headers: Headers, problem: HttpProblem): Response;
}

export interface CompatibleCall extends CompatibleRequest {
  readonly client: ClientConnection;
  /** What a provider's answer to it may take. */
  readonly bounds: AnswerBounds;
}

export interface CompatibleDeps {
  readonly settings: ConfigFile;
  /** The home's: where the files of `rules.files` are. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secret: () => Promise<Uint8Array>;
  readonly open: OpenThreads;
  readonly fronts: FrontMemory;
  /** Responses that their clients can ask for again. */
  readonly responses: LiveResponses;
  /** Answers under way, by what was asked. */
  readonly flights: Map<string, Flight>;
  /** What is remembered of users, and the queue that learns; null where the configuration turns memory off. */
  readonly memory: () => Promise<Pick<Memory, "repository" | "queue"> | null>;
  readonly embedding: ConversationEmbedding;
  readonly requests: RecentRequests;
  /** Windows that providers have stated, to any instance. */
  readonly limits: OpenThreadOptions<object>["limits"];
  readonly after: After;
  /** After so long without a word from it, the store is left out. */
  readonly silenceMs: number;
}

/*
 * The configured embedder: it orders the evidence for a question, and embeds new messages after the answer. A request waits
 * for it at most two seconds.
 */

type EmbeddingOptions = Pick<ThreadDeps, "embedder" | "onEmbedding">;

interface ConversationEmbedding {
  /** For a search; nothing for who has shown only a provider's key: the operator doesn't pay for them. */
  of(caller: Caller): Promise<EmbeddingOptions>;
  /** Not awaited; never throws. */
  behind(deps: Pick<ThreadDeps, "store" | "tools">, threadId: string, caller: Caller): Promise<void>;
  /** Waits for what was said last, ten seconds at most. */
  close(): Promise<void>;
}

/** What is left then is made behind the thread's next answer. */
const CLOSING_MS = 10_000;

function conversationEmbedding(configured: () => Promise<EmbeddingOptions>): ConversationEmbedding {
  const [closing, over] = [new AbortController(), new AbortController()];
  const time = { closing: closing.signal, over: over.signal };
  const of = async (caller: Caller): Promise<EmbeddingOptions> =>
    isProviderUser(caller) ? {} : configured().catch(() => ({}));
  return {
    of,
    behind: async ({ store, tools }, threadId, caller) =>
      keepEmbedded({ store, tools, ...(await of(caller)) }, threadId, time),
    async close() {
      closing.abort();
      const { embedder } = await configured().catch((): EmbeddingOptions => ({}));
      if (embedder !== undefined) await untilEmbedded(embedder, CLOSING_MS);
      over.abort();
    },
  };
}
