/** The compatible endpoints as the server sees them: a request in, its answer straight to the connection. */
import type { ConfigFile } from "palimpsest/home";
import { ProblemError } from "../http/problem.ts";
import type { Compatible } from "../server/app.ts";
import type { CompatibleDeps } from "./call.ts";
import { conversationEmbedding } from "./embedding.ts";
import { frontMemory } from "./matching/front-memory.ts";
import { liveResponses } from "./openai-responses/live-responses.ts";
import { serve, vendorFailure } from "./serve.ts";
import { openThreads } from "./threads/claim.ts";
import { paramIn } from "./vendor.ts";
import type { AnswerBounds } from "./wire/bounded-body.ts";
import { type Client, nodeClient, webClient } from "./wire/client.ts";

export interface EndpointOptions {
  readonly settings: ConfigFile;
  readonly env: CompatibleDeps["env"];
  readonly secret: CompatibleDeps["secret"];
  readonly memory: CompatibleDeps["memory"];
  /** The embedder of the configuration, if it has one. */
  readonly embedding: Parameters<typeof conversationEmbedding>[0];
  readonly requests: CompatibleDeps["requests"];
  readonly limits: CompatibleDeps["limits"];
  readonly after: CompatibleDeps["after"];
  readonly clock: () => Date;
  readonly ids: () => string;
  /** After so long without a word from it, the store is left out; 250 ms unless told. */
  readonly silenceMs?: number | undefined;
}

export interface ClosableEndpoints extends Compatible {
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
      const body = vendorFailure(path.slice("/v1".length), headers, failure);
      return Response.json(body, { status, ...(more !== undefined && { headers: more }) });
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
function noting(client: Client, begun: () => void): { readonly client: Client; readonly status: () => number } {
  let noted = 499;
  let hasBegun = false;
  const head: Client["head"] = (status, headers) => {
    noted = status;
    client.head(status, headers);
  };
  const write: Client["write"] = (bytes) => {
    if (!hasBegun && bytes.length > 0 && bytes[0] !== COLON) {
      hasBegun = true;
      begun();
    }
    return client.write(bytes);
  };
  return { client: { ...client, head, write }, status: () => noted };
}

const COLON = 58;

/** Of paths that anybody may make up there are too many. */
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
