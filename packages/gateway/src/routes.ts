/** The table of all routes. The order is that of the documents made from it. */
import { z } from "zod";
import type { RecentRequests } from "./compatible/outcome.ts";
import type { After } from "./http/event-stream.ts";
import { openApi } from "./http/openapi.ts";
import { type Route, route } from "./http/route.ts";
import { changesRoutes } from "./resources/changes.ts";
import { chatRoutes } from "./resources/chat.ts";
import { fileRoutes } from "./resources/files.ts";
import { importRoute } from "./resources/import.ts";
import { labRoutes } from "./resources/lab.ts";
import { operationRoutes } from "./resources/operations.ts";
import { requestRoutes } from "./resources/requests.ts";
import { runRoutes } from "./resources/runs.ts";
import { type SessionDeps, sessionRoutes, userRoute } from "./resources/session.ts";
import { type ServerStatus, statusRoutes } from "./resources/status.ts";
import type { Agents } from "./runs/home-runs.ts";
import type { Runs } from "./runs/registry.ts";

export interface RouteDeps {
  readonly status: ServerStatus;
  readonly agents: Agents;
  readonly runs: Runs;
  readonly after: After;
  readonly requests: RecentRequests;
  readonly session: SessionDeps;
  readonly closing: AbortSignal;
  readonly version: string;
}

export function allRoutes(deps: RouteDeps): readonly Route[] {
  const { status, agents, runs, after, requests, session, closing, version } = deps;
  const routes = [
    ...statusRoutes(status),
    ...operationRoutes({ runs, requests }),
    importRoute,
    ...changesRoutes({ runs, after, closing }),
    ...runRoutes({ agents, runs }),
    ...chatRoutes({ agents, runs, after }),
    ...fileRoutes,
    ...labRoutes,
    ...requestRoutes(requests),
    userRoute,
    ...sessionRoutes(session),
    route({
      method: "GET",
      path: "/openapi.json",
      summary: "This description of all routes",
      access: "open",
      answer: z.looseObject({ openapi: z.string() }),
      handle: async () => ({ openapi: "3.1.0", ...openApi(routes, { version }) }),
    }),
  ] as Route[];
  return routes;
}
