/** Puts the parts together: a home, its routes, the door before them, and a server that may be started. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile } from "palimpsest/home";
import { type HomeParts, homeOfParts, windowsOf } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { indexProgress } from "palimpsest/internal/recall";
import { exactCounterFor } from "palimpsest/models";
import { credentials, gatewaySecret, isLoopback, keyFacts, providerKeyOf, providerUser } from "./access/admit.ts";
import { createStrangers, keepSettled, RequestLimits, type Strangers } from "./access/limits.ts";
import { EndedSessions, sessionOf } from "./access/sessions.ts";
import { type RecentRequests, recentRequests } from "./compatible/outcome.ts";
import { compatibleEndpoints } from "./compatible/serve.ts";
import { afterTime } from "./http/event-stream.ts";
import { createMcpEndpoint } from "./mcp/endpoint.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { allRoutes } from "./routes.ts";
import { type Agents, createAgents, type GatewayAgentOptions, homeRuns } from "./runs/home-runs.ts";
import type { Runs } from "./runs/registry.ts";
import { createApp } from "./server/app.ts";
import { buildIndexes, type Sweeping, sweepingOf } from "./server/background.ts";
import { GatewayError, type Listening, listen, type UnderWay, underWay } from "./server/listen.ts";
import type { Log } from "./server/log.ts";
import { PAGE, pageFiles } from "./server/page-files.ts";
import { type StoreHealth, storeHealth } from "./server/request-store.ts";

export type GatewayOptions = GatewaySettings & (GatewayOfHome | GatewayOfParts);

interface GatewayOfHome {
  /** An open home; the caller closes it after the gateway. */
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
  readonly agent?: GatewayAgentOptions;
  /** How long the compatible endpoints wait for the store before they pass a request on without it; 250 ms unless told. */
  readonly storeSilenceMs?: number;
}

export interface Gateway {
  /** For a server of your own. It can't know the connection, so every request needs a key. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Where the configuration says, unless told otherwise. Refuses an address that others can reach while there are no keys. */
  listen(
    options?: { readonly [name in keyof Address]?: Address[name] | undefined },
  ): Promise<Address & { readonly url: string }>;
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
  const time = { clock, ids, after };
  const own = { home, agents, requests, health, log, ...time };
  const runs = homeRuns(own);
  countQueues(metrics, home, runs);
  const { storeSilenceMs } = options;
  const ending = { sweeping, abandoning, closing: closing.signal };
  const app = once(() => gatewayApp({ ...own, ...ending, runs, metrics, answers, storeSilenceMs }));
  return {
    fetch: async (request) => (await app()).fetch(request, {}),
    async listen(given = {}) {
      const { gateway, models } = await home.settings();
      const { host = gateway.host, port = gateway.port } = given;
      if (!isLoopback(host) && (await home.store.keys?.any()) !== true)
        throw new GatewayError("keys-needed", `${host} can be reached by others, and there are no keys: ${NEXT}`);
      const { fetch } = await app();
      // Reading a tokenizer's table takes 0.2 s, for which the requests beside the first one would wait.
      for (const model of models) await exactCounterFor(model);
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
      // While answers are still under way, new requests are told that the gateway closes.
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
  const home = homeOfParts({ store, directory, model, config });
  return {
    home,
    async release() {
      await home.close();
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

const NEXT = 'make one with "palimpsest keys create --user U", or listen on 127.0.0.1';

/* The app on a home: its routes, the door before them, and what they stand on. */

interface AppParts extends Required<Pick<GatewaySettings, "log" | "clock" | "ids" | "after">> {
  readonly home: Home;
  readonly agents: Agents;
  readonly runs: Runs;
  readonly requests: RecentRequests;
  readonly metrics: Metrics;
  readonly answers: UnderWay;
  readonly health: StoreHealth;
  /** What is to be stopped at the end, and answers to be given up before that. */
  readonly sweeping: Sweeping[];
  readonly abandoning: (() => void)[];
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal;
  readonly storeSilenceMs: number | undefined;
}

async function gatewayApp(parts: AppParts): Promise<ReturnType<typeof createApp>> {
  const { home, agents, runs, requests, metrics, answers, sweeping, closing, log, clock, ids, after } = parts;
  // No option: what the agents of a home read of it is the process's too.
  const { env } = process;
  const settings = await home.settings();
  const { gateway } = settings;
  const forward = gateway.forward_keys;
  const ownSecret = once(() => gatewaySecret(home.directory, env));
  const ended = new EndedSessions();
  const secret = forward ? await ownSecret() : null;
  const compatible = compatibleEndpoints({
    settings,
    directory: home.directory,
    env,
    secret: ownSecret,
    memory: async () => (await agents.get(null)).memory,
    embedding: home.embedding,
    requests,
    limits: windowsOf(home.directory, home.store.shared?.limits, clock),
    after,
    clock,
    ids,
    silenceMs: parts.storeSilenceMs,
  });
  sweeping.push({ stop: compatible.close });
  parts.abandoning.push(compatible.abandon);
  const bodyBytes = Math.floor(gateway.body_limit_mb * 1024 * 1024);
  return createApp({
    routes: allRoutes({
      status: { notReady: () => notReady(parts), metrics: metrics.text },
      agents,
      runs,
      after,
      closing,
      requests,
      session: { keys: home.store.keys, secret: ownSecret, ended, clock },
      version: ownVersion(),
    }),
    home,
    async keysOf(headers) {
      const now = clock();
      const cookies = credentials(headers).length === 0 ? headers.get("cookie") : null;
      const session = cookies === null ? null : sessionOf(await ownSecret(), cookies, now);
      const key = secret === null ? null : providerKeyOf(headers, { forward });
      const user = secret === null || key === null ? null : providerUser(secret, key);
      return keyFacts(home.store.keys, headers, {
        now,
        providerUser: user,
        session: session === null || ended.has(session) ? null : session.hash,
      });
    },
    providerKeyOf: (headers) => providerKeyOf(headers, { forward }),
    userHeader: gateway.user_header,
    hosts: gateway.hosts,
    compatible,
    mcp: createMcpEndpoint({ version: ownVersion(), bodyBytes, bodyNesting: gateway.body_nesting }),
    page: pageFiles(PAGE),
    metrics,
    ...limitsOf(home, gateway, { clock, ids, sweeping }),
    addressHeader: gateway.address_header,
    bodyBytes,
    bodyNesting: gateway.body_nesting,
    log,
    clock,
    ids,
    after,
    underWay: answers,
    health: parts.health,
    closing,
  });
}

/** Null: it takes requests. */
async function notReady({
  home,
  closing,
  health,
}: Pick<AppParts, "home" | "closing" | "health">): Promise<string | null> {
  if (closing.aborted) return "it is shutting down";
  const answers = await home.store.users().then(
    () => true,
    () => false,
  );
  if (!answers) return "the store does not answer";
  return (await health.state()) === "writable" ? null : "the store can't be written";
}

/** Each gateway counts its own. */
function strangersOf({ strangers }: ConfigFile["gateway"], clock: () => Date): Strangers {
  const { requests_per_minute, running, all_requests_per_minute, all_running } = strangers;
  return createStrangers(
    {
      ofAddress: { requestsPerMinute: requests_per_minute, running },
      ofAll: { requestsPerMinute: all_requests_per_minute, running: all_running },
    },
    () => clock().getTime(),
  );
}

/** Where several gateways share a store, they count together. */
function limitsOf(
  { store: { shared } }: Home,
  gateway: ConfigFile["gateway"],
  { clock, ids, sweeping }: Pick<AppParts, "clock" | "ids" | "sweeping">,
): { readonly limits: RequestLimits; readonly strangers: Strangers } {
  const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute, running } = gateway.limits;
  const limits = new RequestLimits({ requestsPerMinute, tokensPerMinute, running }, () => clock().getTime());
  const strangers = strangersOf(gateway, clock);
  if (shared !== undefined) sweeping.push(keepSettled([limits, ...strangers.counted], shared.limits, ids()));
  return { limits, strangers };
}

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
