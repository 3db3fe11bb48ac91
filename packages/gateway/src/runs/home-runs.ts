/** The runs on an open home: its threads, its forks with their files, and a line in the log for each run that ends. */

import type { ConfiguredAgent, HomeAgentOptions } from "palimpsest/home";
import { forkInHome } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { ProblemError, problemOf } from "../http/problem.ts";
import type { Log } from "../server/log.ts";
import { Runs, type RunsDeps } from "./registry.ts";
import type { GatewayRun } from "./run.ts";
import { RunSharing } from "./run-sharing.ts";

interface HomeRunsOptions extends Pick<RunsDeps, "agents" | "clock" | "ids" | "after"> {
  readonly home: Home;
  readonly log: Log;
  readonly health: { failed(error: unknown): void };
}

export function homeRuns({ home, log, health, ...deps }: HomeRunsOptions): Runs {
  const threads: RunsDeps["threads"] = {
    version: async (user, thread) => (await home.forUser(user).store.head(thread))?.version ?? 0,
    async fork(user, thread, at) {
      const forked = await forkInHome(home.forUser(user), thread, { at });
      if (forked.kind === "forked") return forked.threadId;
      const why =
        forked.kind === "workspace-full" ? forked.message : `thread ${thread} can't be forked: ${forked.kind}`;
      throw new ProblemError(409, forked.kind, why);
    },
  };
  const most = async () => (await home.settings()).gateway.limits.running;
  const sharing = home.store.shared === undefined ? null : sharingOf(home, deps.ids());
  const onEnd = (run: GatewayRun): void => {
    health.failed(run.result?.error ?? run.error);
    log(lineOf(run));
  };
  return new Runs({ ...deps, threads, most, sharing, onEnd });
}

function sharingOf(home: Home, holder: string): RunSharing {
  const threadsOf = (userId: string) => home.forUser(userId);
  // A process that has it for one user has it for all.
  return new RunSharing({ holder, threadsOf, sharedOf: (userId) => threadsOf(userId).store.shared! });
}

function lineOf({ facts, thread, result, error: unstarted, endedAt }: GatewayRun): Parameters<Log>[0] {
  const { id: run, user, askedAt } = facts;
  const { end, error } = result!;
  const thrown = error ?? unstarted;
  // The client's own mistake, such as an empty prompt: it is told so, and the operator has nothing to look for.
  const isRefused = end.kind === "failed" && thrown !== null && problemOf(thrown).status < 500;
  return {
    time: askedAt.toISOString(),
    level: end.kind === "failed" && !isRefused ? "error" : "info",
    run,
    thread,
    user,
    end: end.kind,
    ms: endedAt!.getTime() - askedAt.getTime(),
    ...(end.kind === "failed" && { code: end.code }),
    ...(thrown !== null && { error: thrown instanceof Error && !isRefused ? `${thrown.stack}` : String(thrown) }),
  };
}

/* The agents that carry out runs: one per configured model, made when it is first asked for, for all users. */

export interface Agents {
  /** Null: the default model. A name that isn't configured is refused: another model would answer unseen. */
  get(model: string | null): Promise<ConfiguredAgent>;
  /** Stops what is under way; nothing new begins. */
  close(withinMs: number): Promise<void>;
}

export type GatewayAgentOptions = Pick<HomeAgentOptions, "tools" | "middleware">;

export function createAgents(home: Home, options: GatewayAgentOptions = {}): Agents {
  const made = new Map<string | null, Promise<ConfiguredAgent>>();
  const make = async (model: string | null): Promise<ConfiguredAgent> => {
    const { models, gateway } = await home.settings();
    if (model !== null && !models.some(({ name }) => name === model))
      throw new ProblemError(400, "no-model", `there is no model ${JSON.stringify(model)}: GET /api/models lists them`);
    return home.agent({ ...options, model, learns: gateway.jobs ? "here" : "elsewhere" });
  };
  return {
    get(model) {
      const known = made.get(model);
      if (known !== undefined) return known;
      const agent = make(model);
      made.set(model, agent);
      // Whatever was missing may be there next time.
      agent.catch(() => made.delete(model));
      return agent;
    },
    async close(withinMs) {
      const agents = await Promise.allSettled(made.values());
      await Promise.all(agents.map((one) => (one.status === "fulfilled" ? one.value.agent.close({ withinMs }) : null)));
    },
  };
}
