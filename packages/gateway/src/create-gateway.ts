/** Puts the parts together: a home, its routes, the door before them, and a server that may be started. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile } from "palimpsest/config";
import { type HomeParts, homeOfParts, windowsOf } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { indexProgress } from "palimpsest/internal/recall";
import { isLoopback } from "./access/admit.ts";
import { credentials, keyFacts } from "./access/keys.ts";
import { createLimits, type Limits } from "./access/limits.ts";
import { gatewaySecret, providerKeyOf, providerUser } from "./access/provider-key.ts";
import { sessionKey } from "./access/sessions.ts";
import { keepSettled } from "./access/settled-limits.ts";
import { compatibleEndpoints } from "./compatible/endpoints.ts";
import { recentRequests } from "./compatible/recent-requests.ts";
import { afterTime } from "./http/event-stream.ts";
import { createMcpEndpoint } from "./mcp/endpoint.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { allRoutes } from "./routes.ts";
import { type AgentOptions, createAgents } from "./runs/agents.ts";
import { homeRuns } from "./runs/home-runs.ts";
import type { Runs } from "./runs/registry.ts";
import { createApp } from "./server/app.ts";
import { GatewayError } from "./server/gateway-error.ts";
import { buildIndexes } from "./server/index-building.ts";
import { type Listening, listen } from "./server/listen.ts";
import type { Log } from "./server/log.ts";
import { PAGE, pageFiles } from "./server/page-files.ts";
import { type Sweeping, sweepingOf } from "./server/retention.ts";

export type GatewayOptions = GatewaySettings & (GatewayOfHome | GatewayOfParts);

interface GatewayOfHome {
  /** An open home; whoever opened it closes it after the gateway. */
  readonly home: Home;
}

/** Without a home, for a program that has its own store and model. The store stays the program's to close. */
interface GatewayOfParts extends Omit<HomeParts, "directory"> {
  /** Where threads' files, skills and memory files are kept; without it in a folder that goes with the gateway. */
  readonly directory?: string;
}

interface GatewaySettings {
  readonly log?: Log;
  readonly clock?: () => Date;
  readonly ids?: () => string;
  /** Does something when so many milliseconds have passed, unless the function that comes back is called. */
  readonly after?: (ms: number, act: () => void) => () => void;
  /** What the agents here have beside what the configuration gives them. */
  readonly agent?: AgentOptions;
  /** How long the compatible endpoints wait for the store before they pass a request on without it; 250 ms unless told. */
  readonly storeSilenceMs?: number;
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

export function createGateway(options: GatewayOptions): Gateway {
  const { log = () => {}, clock = () => new Date(), ids = randomUUID, agent = {}, after = afterTime } = options;
  const { home, release } = homeOf(options);
  // No option: what the agents of a home read of it is the process's too.
  const { env } = process;
  let state: "open" | "closing" = "open";
  const servers: Listening[] = [];
  const sweeping: Sweeping[] = [];
  const closing = new AbortController();
  const metrics = createMetrics();
  const agents = createAgents(home, agent);
  const requests = recentRequests();
  const runs = homeRuns({ home, agents, clock, ids, log, after });
  countQueues(metrics, home, runs);
  const notReady = async (): Promise<string | null> => {
    if (state === "closing") return "it is shutting down";
    return home.store.users().then(
      () => null,
      () => "the store does not answer",
    );
  };
  const app = once(async () => {
    const { gateway } = await home.settings();
    const forward = gateway.forward_keys;
    const ownSecret = once(() => gatewaySecret(home.directory, env));
    const secret = forward ? await ownSecret() : null;
    const compatible = compatibleEndpoints({
      settings: await home.settings(),
      env,
      secret: ownSecret,
      memory: async () => (await agents.get(null)).memory,
      embedding: home.embedding,
      requests,
      limits: windowsOf(home.directory, home.store.shared?.limits, clock),
      after,
      clock,
      ids,
      silenceMs: options.storeSilenceMs,
    });
    sweeping.push({ stop: compatible.close });
    const bodyBytes = Math.floor(gateway.body_limit_mb * 1024 * 1024);
    return createApp({
      routes: allRoutes({
        status: { notReady, metrics: metrics.text },
        agents,
        runs,
        after,
        closing: closing.signal,
        requests,
        session: { keys: home.store.keys, secret: ownSecret, clock },
        version: ownVersion(),
      }),
      home,
      async keysOf(headers) {
        const now = clock();
        const session = headers.has("cookie") && credentials(headers).length === 0;
        const key = secret === null ? null : providerKeyOf(headers, { forward });
        const user = secret === null || key === null ? null : providerUser(secret, key);
        return keyFacts(home.store.keys, headers, {
          now,
          providerUser: user,
          session: session ? sessionKey(await ownSecret(), headers, now) : null,
        });
      },
      providerKeyOf: (headers) => providerKeyOf(headers, { forward }),
      userHeader: gateway.user_header,
      compatible,
      mcp: createMcpEndpoint({ version: ownVersion(), bodyBytes }),
      page: pageFiles(PAGE),
      metrics,
      limits: limitsOf(home, gateway.limits, { clock, ids, sweeping }),
      bodyBytes,
      log,
      clock,
      ids,
      after,
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
      if (gateway.jobs) sweeping.push(...background(home, gateway.retention_days, { clock, log, metrics }));
      return { host, port: server.port, url: server.url };
    },
    async close() {
      state = "closing";
      closing.abort();
      const { gateway } = await home.settings();
      const grace = gateway.shutdown_grace_seconds * 1000;
      // Whoever asks is told that it closes as long as runs go on.
      await runs.close(grace);
      await Promise.all(servers.splice(0).map((server) => server.close(grace)));
      await Promise.all(sweeping.splice(0).map((one) => one.stop()));
      await release();
    },
  };
}

/** Where several gateways share a store, they count together. */
function limitsOf(
  { store: { shared } }: Home,
  limits: GatewayLimits,
  { clock, ids, sweeping }: Required<Pick<GatewaySettings, "clock" | "ids">> & { readonly sweeping: Sweeping[] },
): Limits {
  const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute, running } = limits;
  const counting = createLimits({ requestsPerMinute, tokensPerMinute, running }, () => clock().getTime());
  if (shared !== undefined) sweeping.push(keepSettled(counting, shared.limits, ids()));
  return counting;
}

interface Background extends Required<Pick<GatewaySettings, "clock" | "log">> {
  readonly metrics: Metrics;
}

function background(home: Home, days: number | null, { clock, log, metrics }: Background): Sweeping[] {
  const building = buildIndexes(home, { clock, log });
  if (days === null) return [building];
  return [building, sweepingOf(home, days, { clock, onSwept: metrics.swept, onError: () => metrics.swept("failed") })];
}

type GatewayLimits = ConfigFile["gateway"]["limits"];

function countQueues(metrics: Metrics, { store }: Home, runs: Runs): void {
  const { outbox } = store;
  metrics.queue("runs", () => runs.waiting());
  if (outbox === undefined) return;
  for (const queue of ["memory", "index"]) metrics.queue(queue, async () => (await outbox.list(queue)).length);
  metrics.unindexed(async () => {
    const progress = await indexProgress(store);
    return progress === null ? 0 : progress.records - progress.indexed;
  });
}

/** Of a home that was made here, what goes with the gateway. */
function homeOf(options: GatewayOptions): { readonly home: Home; release(): Promise<void> } {
  if ("home" in options) return { home: options.home, release: async () => {} };
  const { store, model, config } = options;
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "palimpsest-gateway-"));
  const parts = { store, directory, ...(model !== undefined && { model }), ...(config !== undefined && { config }) };
  const home = homeOfParts(parts);
  return {
    home,
    async release() {
      await home.close();
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
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
