/** The compatible endpoints as the server sees them: a request in, its answer straight to the connection. */
import type { ConfigFile } from "palimpsest/config";
import { ProblemError } from "../http/problem.ts";
import type { Compatible } from "../server/app.ts";
import type { CompatibleDeps } from "./call.ts";
import { conversationEmbedding } from "./embedding.ts";
import { frontMemory } from "./matching/front-memory.ts";
import { liveResponses } from "./openai-responses/live-responses.ts";
import { serve, vendorFailure } from "./serve.ts";
import { openThreads } from "./threads/open-threads.ts";
import { paramIn } from "./vendor.ts";
import { type Client, nodeClient, webClient } from "./wire/client.ts";
import { UpstreamError } from "./wire/upstream.ts";

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

const SILENCE_MS = 250;
const SWITCHED_OFF =
  "the /v1 endpoints are switched off here: set gateway.compatible to true in config.yaml and start the gateway again";

export function compatibleEndpoints({
  clock,
  ids,
  silenceMs = SILENCE_MS,
  ...options
}: EndpointOptions): Compatible & { close(): Promise<void> } {
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
  return {
    async serve(request, outgoing) {
      if (!options.settings.gateway.compatible) throw new ProblemError(404, "switched-off", SWITCHED_OFF);
      if (outgoing === undefined) {
        const { client, response } = webClient();
        const done = serve({ ...request, client }, deps).catch(orUnreachable);
        return Promise.race([response, done.then(() => response)]);
      }
      const { client, status } = noting(nodeClient(outgoing));
      await serve({ ...request, client }, deps).catch(orUnreachable);
      // What the server is told so that it writes nothing more; the status is for the log.
      return new Response(null, { status: status(), headers: { "x-hono-already-sent": "true" } });
    },
    refuse(path, headers, { status, code, message, details, headers: more }) {
      const failure = { status, code, message, param: paramIn(details) };
      const body = vendorFailure(path.slice("/v1".length), headers, failure);
      return Response.json(body, { status, ...(more !== undefined && { headers: more }) });
    },
    async close() {
      await deps.responses.close();
      await open.close();
      await deps.embedding.close();
    },
  };
}

/** A provider that can't be reached is no failure of ours. */
function orUnreachable(error: unknown): never {
  if (error instanceof UpstreamError) throw new ProblemError(502, error.code, error.message);
  throw error;
}

function noting(client: Client): { readonly client: Client; readonly status: () => number } {
  let noted = 499;
  const head: Client["head"] = (status, headers) => {
    noted = status;
    client.head(status, headers);
  };
  return { client: { ...client, head }, status: () => noted };
}
