/** Whether the server is alive and ready. */
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { type Route, route, Stream } from "../http/route.ts";
import { TEXT_TYPE } from "../metrics/metrics.ts";

const ok = z.strictObject({ ok: z.literal(true) });

export interface ServerStatus {
  /** Why it takes no more requests; null: it does. */
  notReady(): Promise<string | null>;
  metrics(): Promise<string>;
}

export function statusRoutes({ notReady, metrics }: ServerStatus): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/healthz",
      summary: "Whether the process is alive",
      access: "open",
      answer: ok,
      handle: async () => ({ ok: true as const }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      summary: "Whether it takes requests: the store answers, and it is not shutting down",
      access: "open",
      answer: ok,
      async handle() {
        const reason = await notReady();
        if (reason !== null) throw new ProblemError(503, "not-ready", reason);
        return { ok: true as const };
      },
    }),
    route({
      method: "GET",
      path: "/metrics",
      summary: "What was counted, for Prometheus: nothing of it names a user or a thread",
      access: "admin",
      answer: z.string(),
      gives: "text/plain",
      handle: async () => new Stream([await metrics()], TEXT_TYPE),
    }),
  ];
}
