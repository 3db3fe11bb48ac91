/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface ServerRoutes {
  /** Whether the process is alive. */
  "GET /healthz": {
    readonly answer: {
      readonly ok: true;
    };
  };
  /** Whether it takes requests: the store answers, and it is not shutting down. */
  "GET /readyz": {
    readonly answer: {
      readonly ok: true;
    };
  };
  /** What was counted, for Prometheus: nothing of it names a user or a thread. */
  "GET /metrics": {
    readonly answer: string;
  };
  /** This description of all routes. */
  "GET /openapi.json": {
    readonly answer: {
      readonly openapi: string;
      readonly [name: string]: unknown;
    };
  };
}
