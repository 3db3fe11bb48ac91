/** Puts the parts together: a home, its routes, the door before them, and a server that may be started. */
import { randomUUID } from "node:crypto";
import type { Home } from "palimpsest/internal/home";
import { isLoopback, type KeyFacts } from "./access/admit.ts";
import { statusRoutes } from "./resources/status.ts";
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
  /** Refuses an address that others can reach while there are no keys. */
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
  const notReady = async (): Promise<string | null> => {
    if (state === "closing") return "it is shutting down";
    return home.store.users().then(
      () => null,
      () => "the store does not answer",
    );
  };
  const app = createApp({
    routes: [...statusRoutes({ notReady })],
    home,
    keysOf: async (): Promise<KeyFacts> => ({ exist: false, presented: "none" }),
    bodyBytes: DEFAULT_BODY_MB << 20,
    log,
    clock,
    ids,
  });
  return {
    fetch: async (request) => app.fetch(request, {}),
    async listen({ host = DEFAULT_HOST, port = DEFAULT_PORT } = {}) {
      if (!isLoopback(host))
        throw new GatewayError(
          "keys-needed",
          `without keys a gateway answers this machine only, and ${host} can be reached by others: make a key with "palimpsest keys create --user U", or leave --host out`,
        );
      const server = await listen((request, env) => app.fetch(request, env as never), { host, port });
      servers.push(server);
      return { host, port: server.port, url: server.url };
    },
    async close() {
      state = "closing";
      await Promise.all(servers.splice(0).map((server) => server.close(DEFAULT_GRACE_MS)));
    },
  };
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 8790;
const DEFAULT_BODY_MB = 64;
const DEFAULT_GRACE_MS = 10_000;
