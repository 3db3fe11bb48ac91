/** Puts the parts together: a home, its routes, the door before them, and a server that may be started. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Home } from "palimpsest/internal/home";
import { isLoopback } from "./access/admit.ts";
import { keyFacts } from "./access/keys.ts";
import { createLimits } from "./access/limits.ts";
import { gatewaySecret, providerKeyOf, providerUser } from "./access/provider-key.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { allRoutes } from "./routes.ts";
import { createApp } from "./server/app.ts";
import { GatewayError } from "./server/gateway-error.ts";
import { type Listening, listen } from "./server/listen.ts";
import type { Log } from "./server/log.ts";

export interface GatewayOptions {
  /** An open home; whoever opened it closes it after the gateway. */
  readonly home: Home;
  readonly log?: Log;
  readonly clock?: () => Date;
  readonly ids?: () => string;
}

export interface Gateway {
  /** For a server of your own. It can't know the connection, so it lets nobody in without a key. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Where the configuration says, unless told otherwise. Refuses an address that others can reach while there are no keys. */
  listen(options?: Partial<Address>): Promise<Address & { readonly url: string }>;
  /** Takes nothing new and lets what is under way finish. */
  close(): Promise<void>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function createGateway({
  home,
  log = () => {},
  clock = () => new Date(),
  ids = randomUUID,
}: GatewayOptions): Gateway {
  let state: "open" | "closing" = "open";
  const servers: Listening[] = [];
  const metrics = createMetrics();
  const { outbox } = home.store;
  if (outbox !== undefined) metrics.queue("memory", async () => (await outbox.list("memory")).length);
  const notReady = async (): Promise<string | null> => {
    if (state === "closing") return "it is shutting down";
    return home.store.users().then(
      () => null,
      () => "the store does not answer",
    );
  };
  const app = once(async () => {
    const { gateway } = await home.settings();
    const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute, running } = gateway.limits;
    const forward = gateway.forward_keys;
    const secret = forward ? await gatewaySecret(home.directory, process.env) : null;
    return createApp({
      routes: allRoutes({ notReady, metrics: metrics.text }, { version: ownVersion() }),
      home,
      keysOf(headers) {
        const key = secret === null ? null : providerKeyOf(headers, { forward });
        const user = secret === null || key === null ? null : providerUser(secret, key);
        return keyFacts(home.store.keys, headers, { now: clock(), providerUser: user });
      },
      providerKeyOf: (headers) => providerKeyOf(headers, { forward }),
      userHeader: gateway.user_header,
      metrics,
      limits: createLimits({ requestsPerMinute, tokensPerMinute, running }, () => clock().getTime()),
      bodyBytes: Math.floor(gateway.body_limit_mb * 1024 * 1024),
      log,
      clock,
      ids,
    });
  });
  return {
    fetch: async (request) => (await app()).fetch(request, {}),
    async listen(given = {}) {
      const { gateway } = await home.settings();
      const { host = gateway.host, port = gateway.port } = given;
      if (!isLoopback(host) && (await home.store.keys?.any()) !== true)
        throw new GatewayError("keys-needed", `${host} can be reached by others, and there are no keys: ${NEXT}`);
      const { fetch } = await app();
      const server = await listen((request, env) => fetch(request, env as never), { host, port });
      servers.push(server);
      return { host, port: server.port, url: server.url };
    },
    async close() {
      state = "closing";
      const { gateway } = await home.settings();
      const grace = gateway.shutdown_grace_seconds * 1000;
      await Promise.all(servers.splice(0).map((server) => server.close(grace)));
    },
  };
}

const NEXT = 'make one with "palimpsest keys create --user U", or listen on 127.0.0.1';

function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
