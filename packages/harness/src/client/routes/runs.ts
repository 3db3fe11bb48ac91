/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface RunsRoutes {
  /** How a run stands; those that have ended are known for some minutes. */
  "GET /api/runs/{run}": {
    readonly params: {
      readonly run: string;
    };
    readonly answer: {
      readonly run: string;
      readonly thread: string;
      readonly status: "waiting" | "running" | "ended";
      readonly lastEvent: number;
      readonly askedAt: string;
      readonly endedAt: string | null;
      readonly text?: string;
      readonly usage?: {
        readonly input: number;
        readonly output: number;
        readonly cacheRead: number;
        readonly cacheWrite: number;
      };
      readonly steps?: number;
      readonly end?: string;
      readonly question?: string;
      readonly options?: readonly string[];
      readonly calls?: readonly {
        readonly id: string;
        readonly name: string;
        readonly input: unknown;
      }[];
      readonly clientCalls?: readonly {
        readonly id: string;
        readonly name: string;
        readonly input: unknown;
      }[];
      readonly spent?: {
        readonly tokens: number;
        readonly cost: number | null;
      };
      readonly limit?: number;
      readonly cost?: {
        readonly spent: number;
        readonly [name: string]: unknown;
      };
      readonly error?: {
        readonly code: string;
        readonly message: string;
      };
    };
  };
  /** A run's events from the first, or behind the one that Last-Event-ID names, until it ends. */
  "GET /api/runs/{run}/stream": {
    readonly params: {
      readonly run: string;
    };
    readonly query?: {
      readonly after?: string | number;
    };
    readonly answer: string;
  };
  /** Stop a run: what it has said so far stays in the thread, as aborted. */
  "POST /api/runs/{run}/cancel": {
    readonly params: {
      readonly run: string;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly run: string;
      readonly thread: string;
      readonly status: "waiting" | "running" | "ended";
    };
  };
}
