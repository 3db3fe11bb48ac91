/** Puts the parts together: a home, its routes, the door before them, and a server that may be started. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HomeParts, homeOfParts } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { indexProgress } from "palimpsest/internal/recall";
import { isLoopback } from "./access/admit.ts";
import { recentRequests } from "./compatible/outcome.ts";
import { type AppParts, gatewayApp, once } from "./gateway-app.ts";
import { afterTime } from "./http/event-stream.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { type AgentOptions, createAgents } from "./runs/agents.ts";
import { homeRuns } from "./runs/home-runs.ts";
import type { Runs } from "./runs/registry.ts";
import { GatewayError } from "./server/gateway-error.ts";
import { buildIndexes } from "./server/index-building.ts";
import { type Listening, listen } from "./server/listen.ts";
import type { Log } from "./server/log.ts";
import { type Sweeping, sweepingOf } from "./server/retention.ts";
import { storeHealth } from "./server/store-health.ts";
import { underWay } from "./server/under-way.ts";

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
  const servers: Listening[] = [];
  const sweeping: Sweeping[] = [];
  const abandoning: (() => void)[] = [];
  const closing = new AbortController();
  const answers = underWay(after);
  const metrics = createMetrics(answers.count);
  const agents = createAgents(home, agent);
  const requests = recentRequests();
  const probe = home.store.upkeep?.probe;
  const health = storeHealth({ probe, log, clock, after, onFailure: metrics.storeFailed });
  sweeping.push(health);
  const own = { home, agents, health, log };
  const runs = homeRuns({ ...own, clock, ids, after });
  countQueues(metrics, home, runs);
  const parts: AppParts = {
    home,
    agents,
    runs,
    requests,
    metrics,
    answers,
    health,
    sweeping,
    abandoning,
    closing: closing.signal,
    log,
    clock,
    ids,
    after,
    storeSilenceMs: options.storeSilenceMs,
  };
  const app = once(() => gatewayApp(parts));
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
      closing.abort();
      const { gateway } = await home.settings();
      const grace = gateway.shutdown_grace_seconds * 1000;
      for (const server of servers) server.drain();
      // As long as anything is answered, whoever asks is told that it closes.
      await Promise.all([runs.close(grace), answers.ended(grace)]);
      for (const abandon of abandoning.splice(0)) abandon();
      await answers.ended(LAST_WORDS_MS);
      await Promise.all(servers.splice(0).map((server) => server.close(LAST_WORDS_MS)));
      await Promise.all(sweeping.splice(0).map((one) => one.stop()));
      await release();
    },
  };
}

/** For what was stopped when the grace was over: to be written down, and to say so to its readers. */
const LAST_WORDS_MS = 1000;

interface Background extends Required<Pick<GatewaySettings, "clock" | "log">> {
  readonly metrics: Metrics;
}

function background(home: Home, days: number | null, { clock, log, metrics }: Background): Sweeping[] {
  const building = buildIndexes(home, { clock, log });
  if (days === null) return [building];
  return [building, sweepingOf(home, days, { clock, onSwept: metrics.swept, onError: () => metrics.swept("failed") })];
}

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
