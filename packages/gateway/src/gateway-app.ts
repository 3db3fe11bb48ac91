/** The app on a home: its routes, the door before them, and what they stand on. */
import { readFileSync } from "node:fs";
import type { ConfigFile } from "palimpsest/home";
import { windowsOf } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { credentials, keyFacts } from "./access/keys.ts";
import { createLimits, type Limits } from "./access/limits.ts";
import { gatewaySecret, providerKeyOf, providerUser } from "./access/provider-key.ts";
import { EndedSessions, sessionOf } from "./access/sessions.ts";
import { keepSettled } from "./access/settled-limits.ts";
import { createStrangers, type Strangers } from "./access/strangers.ts";
import type { RecentRequests } from "./compatible/outcome.ts";
import { compatibleEndpoints } from "./compatible/serve.ts";
import type { After } from "./http/event-stream.ts";
import { createMcpEndpoint } from "./mcp/endpoint.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { allRoutes } from "./routes.ts";
import type { Agents } from "./runs/agents.ts";
import type { Runs } from "./runs/registry.ts";
import { createApp } from "./server/app.ts";
import type { Log } from "./server/log.ts";
import { PAGE, pageFiles } from "./server/page-files.ts";
import type { Sweeping } from "./server/retention.ts";
import type { StoreHealth } from "./server/store-health.ts";
import type { UnderWay } from "./server/under-way.ts";

export interface AppParts {
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
  readonly log: Log;
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly after: After;
  readonly storeSilenceMs: number | undefined;
}

export async function gatewayApp(parts: AppParts): Promise<ReturnType<typeof createApp>> {
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
): { readonly limits: Limits; readonly strangers: Strangers } {
  const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute, running } = gateway.limits;
  const limits = createLimits({ requestsPerMinute, tokensPerMinute, running }, () => clock().getTime());
  const strangers = strangersOf(gateway, clock);
  if (shared !== undefined) sweeping.push(keepSettled([limits, ...strangers.counted], shared.limits, ids()));
  return { limits, strangers };
}

function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}

export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
