/** The agents that carry out runs: one per configured model, made when it is first asked for, for all users. */
import type { ConfiguredAgent, Home, HomeAgentOptions } from "palimpsest/home";
import { ProblemError } from "../http/problem.ts";

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
