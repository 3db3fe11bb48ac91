/** Made by `npm run client-routes` from the gateway's table of routes. */
import type { CatalogRoutes } from "./catalog.ts";
import type { ChatRoutes } from "./chat.ts";
import type { MemoryRoutes } from "./memory.ts";
import type { RunsRoutes } from "./runs.ts";
import type { ServerRoutes } from "./server.ts";
import type { ThreadActsRoutes } from "./thread-acts.ts";
import type { ThreadShapeRoutes } from "./thread-shape.ts";
import type { ThreadViewsRoutes } from "./thread-views.ts";
import type { ThreadsRoutes } from "./threads.ts";

export interface Routes
  extends ServerRoutes,
    ThreadsRoutes,
    ThreadViewsRoutes,
    CatalogRoutes,
    ThreadActsRoutes,
    ThreadShapeRoutes,
    MemoryRoutes,
    RunsRoutes,
    ChatRoutes {}
